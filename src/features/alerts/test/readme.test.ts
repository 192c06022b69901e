/** The example, the alert and the program of the document. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { blockOf, ROOT } from "../../../../test/helpers/documents.ts";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";

setDefaultTimeout(60_000);

const DOCUMENT = "src/features/alerts/README.md";

test("with the example a receiver gets an alert as documented, and accepts its signature", async () => {
  const file = join(ROOT, "test", `.snippet-${crypto.randomUUID()}.ts`);
  const receiver = startReceiver();
  const secret = `whsec_${Buffer.from("24 bytes that are secret").toString("base64")}`;
  const example = blockOf(DOCUMENT, "yaml", "alerts:").replace("https://hooks.example.com", receiver.url);
  const told = await startGateway({
    config: {
      ...(Bun.YAML.parse(example) as object),
      prices: { "mock/*": { input: 0, output: 0, request: 0.01 } },
      budgets: { team: { on: "all", every: "total", limit: 0.01, mode: "watch", alerts: [80] } },
    },
    env: { WEIR_ALERT_SECRET: secret, WEIR_STATE: "none" },
  });
  try {
    await told.opened();
    await ask(told.url, "mock/chat");
    const alert = () => receiver.received.find(({ path }) => path === "/weir");
    expect(await until(() => alert() !== undefined, 20_000)).toBe(true);
    const { body, headers } = alert()!;
    const documented = JSON.parse(blockOf(DOCUMENT, "json")) as Record<string, object>;
    const sent = JSON.parse(body) as Record<string, object>;
    expect(Object.keys(sent)).toEqual(Object.keys(documented));
    expect(Object.keys(sent["facts"]!)).toEqual(Object.keys(documented["facts"]!));
    await Bun.write(file, blockOf(DOCUMENT, "ts", "isFromWeir"));
    const { isFromWeir } = (await import(file)) as {
      isFromWeir(headers: Headers, body: string, secret: string): boolean;
    };
    expect(isFromWeir(new Headers(headers), body, secret)).toBe(true);
    expect(isFromWeir(new Headers(headers), `${body} `, secret)).toBe(false);
    expect(isFromWeir(new Headers(headers), body, "whsec_b3RoZXI=")).toBe(false);
    expect(isFromWeir(new Headers(), body, secret)).toBe(false);
  } finally {
    await told.stop();
    await receiver.stop();
    rmSync(file, { force: true });
  }
});
