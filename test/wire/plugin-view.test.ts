/** What plugins see of a call: everything they need, and no credential. */
import { expect, test } from "bun:test";
import { answering, ask, inOrder, keyOf, makeStage, places, failing } from "../helpers/places.ts";

const { upstream, gateway } = makeStage();

/** Writes what a plugin can reach from a value: own and inherited members, hidden ones, functions called for common names. */
const PLUGIN = `import { inspect } from "node:util";
import { appendFileSync } from "node:fs";
import { definePlugin } from "weir";
const file = import.meta.dir + "/../seen.txt";
function reach(value, seen = new Set()) {
  if (typeof value !== "object" || value === null || seen.has(value)) return inspect(value);
  seen.add(value);
  const parts = [inspect(value, { depth: 9, showHidden: true })];
  for (let at = value; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at))
      try { parts.push(name + "=" + reach(value[name], seen)); } catch {}
  if (typeof value.forEach === "function") value.forEach((a, b) => parts.push(b + ": " + inspect(a)));
  if (typeof value.get === "function")
    for (const name of ["authorization", "Authorization", "x-api-key", "X-API-KEY", "cookie"]) parts.push(inspect(value.get(name)));
  return parts.join("\\n");
}
const write = (hook, value) => appendFileSync(file, "== " + hook + "\\n" + reach(value) + "\\n");
export default definePlugin({
  name: "looker",
  hooks: {
    request(request, call) { write("request", call); call.reportLoss("dropped", "looked.at"); },
    answer(events, call) { write("answer", call); return events; },
    observe(event, call) { if (event.type === "message-end") write("observe", call); },
    done(record) {
      write("done", record);
      for (const change of [() => (record.status = 1), () => (record.usage.input = 1), () => record.losses.push(1), () => (record.attempts[0].failure.what = "x")])
        try { change(); } catch (cause) { appendFileSync(file, "frozen: " + cause.name + "\\n"); }
    },
  },
});
`;

const CLIENT_KEY = "sk-weir-of-the-client-31c9";

test("a hook finds no credential in what it is given, and the record of done is frozen", async () => {
  const running = await gateway(
    {
      keys: [{ name: "ci", key: CLIENT_KEY }],
      providers: places([upstream(failing(503)).url, upstream(answering).url], inOrder),
    },
    { plugins: { "looker.js": PLUGIN } },
  );
  const { status, headers } = await ask(running, {
    headers: { authorization: `Bearer ${CLIENT_KEY}`, "x-mark": "seen-by-plugins" },
  });
  expect([status, headers.get("x-weir-warnings")]).toEqual([200, "dropped:looked.at"]);
  await Bun.sleep(50);
  const seen = await Bun.file(`${running.folder}/seen.txt`).text();
  for (const hook of ["request", "answer", "observe", "done"]) expect(seen).toContain(`== ${hook}`);
  for (const fact of ["seen-by-plugins", "openai/d1", "ci", "frozen: TypeError"])
    expect(seen).toContain(fact);
  expect(seen.match(/frozen: TypeError/g)).toHaveLength(4);
  for (const secret of [CLIENT_KEY, keyOf(0), keyOf(1), "http://127.0.0.1"])
    expect(seen).not.toContain(secret);
});

test("what hooks read of a call stays readable: names, target, attempt, request, signal", async () => {
  const plugin = `import { definePlugin } from "weir";
import { appendFileSync } from "node:fs";
const facts = (call) => [call.id.slice(0, 4), call.format, call.model, call.key, call.stream, call.attempt,
  call.target.provider.name, call.target.deployment.name, call.target.model, call.target.format, call.target.lane,
  call.signal instanceof AbortSignal, call.request?.turns.length, call.headers.get("x-mark")];
export default definePlugin({ name: "facts", hooks: {
  request(request, call) { appendFileSync(import.meta.dir + "/../facts.txt", JSON.stringify(facts(call)) + "\\n"); },
  done({ id, format, model, stream, status, outcome, target, attempts, usage, losses, skipped, startedAt, endedAt }) {
    const tried = attempts.map(({ target, failure }) => [target.deployment.name, failure?.what]);
    const facts = [id.slice(0, 4), format, model, stream, status, outcome, target.deployment.name, tried, usage.input, losses, skipped, endedAt >= startedAt];
    appendFileSync(import.meta.dir + "/../facts.txt", JSON.stringify(facts) + "\\n");
  } } });`;
  const urls = [upstream(failing(503)).url, upstream(answering).url];
  const running = await gateway({ providers: places(urls, inOrder) }, { plugins: { "facts.js": plugin } });
  await ask(running, { headers: { "x-mark": "m" } });
  await Bun.sleep(50);
  const lines = (await Bun.file(`${running.folder}/facts.txt`).text()).trim().split("\n");
  const view = (attempt: number, deployment: string) =>
    ["req_", "chat-completions", "openai/m", null, false, attempt, "openai", deployment, "m"].concat([
      "chat-completions",
      "translated",
      true,
      1,
      "m",
    ]);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    view(1, "openai/d0"),
    view(2, "openai/d1"),
    [
      "req_",
      "chat-completions",
      "openai/m",
      false,
      200,
      "complete",
      "openai/d1",
      [
        ["openai/d0", "503"],
        ["openai/d1", null],
      ],
      1,
      [],
      [],
      true,
    ],
  ]);
});
