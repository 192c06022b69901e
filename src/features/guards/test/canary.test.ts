/** Canaries: values that weir sends through its own guards by itself. One that gets out is an alert; none is in the books. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";
import { Guard } from "../guard.ts";
import type { NamedGuard } from "../section.ts";
import { type Flight, fly, type Registry } from "../watch/canary.ts";

setDefaultTimeout(60_000);

const SECRET = new Uint8Array(32);
const GUARDS: readonly NamedGuard[] = [
  { name: "pii", find: ["email", "card", "iban", "ip"], do: "replace", keys: ["nobody"] },
  { name: "masks", find: ["email"], do: "mask", models: ["openai/*"] },
  { name: "cards", find: ["card"], do: "block" },
  { name: "in", find: ["email"], do: "block", on: ["input"] },
  { name: "out", find: ["email"], do: "block", on: ["output"], mode: "hold" },
  { name: "notes", find: ["email"], do: "flag" },
];

/** The registry of a gateway, from a call that it serves. */
async function registryOf(): Promise<{ registry: Registry; stop(): Promise<void> }> {
  let registry: Registry | undefined;
  const spy = {
    name: "spy",
    load: async () => ({
      start: () => ({
        seams: () => ({
          around: {
            at: "outline" as const,
            run: (entry: { registry: Registry }, next: () => never) => ((registry = entry.registry), next()),
          },
        }),
      }),
    }),
  };
  const running = await startGateway({ target: "source", workers: [spy as never] });
  await ask(running.url, "mock/chat");
  return { registry: registry!, stop: () => running.stop() };
}

const originals = { find: Guard.prototype.find, reads: Guard.prototype.reads };
afterEach(() => void Object.assign(Guard.prototype, originals));

test("values of each kind are held in every format, and get out where a part of a guard is missing", async () => {
  const { registry, stop } = await registryOf();
  const flown = () => fly(GUARDS, registry, () => SECRET, 7);
  const names = (flights: readonly Flight[], out?: Flight["out"]) =>
    new Set(flights.filter((one) => one.out === out).map(({ guard }) => guard));
  const flights = await flown();
  expect(flights.filter(({ out }) => out)).toEqual([]);
  expect(names(flights)).toEqual(new Set(["pii", "masks", "cards", "in", "out"]));
  const formats = new Set(flights.map(({ format, stream }) => `${format} ${stream}`));
  for (const format of ["chat-completions", "messages", "responses", "gemini", "ollama", "ollama-generate"])
    for (const stream of [true, false]) expect(formats).toContain(`${format} ${stream}`);
  // The plants: guards that find nothing, and that do not look at requests.
  Guard.prototype.find = () => [];
  expect(names(await flown(), "provider")).toEqual(new Set(["pii", "masks", "cards", "in"]));
  expect(names(await flown(), "client")).toEqual(new Set(["out"]));
  Guard.prototype.find = originals.find;
  Guard.prototype.reads = () => false;
  const leaks = (await flown()).filter(({ out }) => out === "provider");
  expect(names(leaks, "provider")).toEqual(new Set(["pii", "masks", "cards", "in"]));
  await stop();
});

test("a gateway whose guard fails alerts, and no record or verdict of a canary exists", async () => {
  const receiver = startReceiver();
  const running = await startGateway({
    target: "source",
    config: {
      ...{ state: "none", workers: 1, log: { format: "json" } },
      alerts: [{ to: receiver.url, events: ["guard"] }],
      guards: { canary: "1s", pii: { find: ["email"], do: "replace" } },
    },
  });
  try {
    await running.opened();
    await ask(running.url, "mock/chat");
    await Bun.sleep(2_500);
    expect(receiver.received).toEqual([]);
    Guard.prototype.find = () => [];
    expect(await until(() => receiver.received.length > 0, 20_000)).toBe(true);
    const alert = JSON.parse(receiver.received[0]!.body) as { message: string };
    expect(alert).toMatchObject({ event: "guard", state: "begins", subject: "pii" });
    expect(alert.message).toMatch(
      /^a value of the kind email that weir planted went past the guard "pii" to the provider/,
    );
    expect(receiver.received[0]!.body).not.toContain("example.com");
    const calls = running.log.map((line) => JSON.parse(line) as { id?: string }).filter(({ id }) => id);
    expect(calls.length).toBe(1);
    expect(running.log.join("\n")).not.toContain("example.com");
  } finally {
    await running.stop();
    await receiver.stop();
  }
});
