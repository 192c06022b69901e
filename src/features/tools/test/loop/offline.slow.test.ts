/** A run with tools on a tape, as somebody records it: the replay needs no model, and starts no program. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../../../../../test/helpers/environment.ts";
import { TARGET } from "../../../../../test/helpers/gateway.ts";
import { startModel } from "./model.ts";

setDefaultTimeout(120_000);

const ROOT = resolve(import.meta.dir, "../../../../..");
const WEIR = TARGET === "binary" ? [join(ROOT, "dist/weir")] : [process.execPath, join(ROOT, "src/main.ts")];
const folder = mkdtempSync(join(tmpdir(), "weir-offline-"));
const facts = join(folder, "facts");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A client that knows nothing of weir but the address that it is given. */
const CLIENT = `
for (const stream of [false, true]) {
  const answer = await fetch(process.env.OPENAI_BASE_URL + "/responses", {
    method: "POST",
    headers: { "content-type": "application/json", "x-weir-tools": "program" },
    body: JSON.stringify({ model: "messages/m", input: "Who are you?", stream }),
  });
  console.log("ANSWER " + answer.status + " " + JSON.stringify(await answer.text()));
}
`;

/** Runs a command of weir with the client. @returns its exit code and what the client got */
async function run(...args: string[]) {
  const child = Bun.spawn(
    [...WEIR, ...args, "--port", "0", "--", process.execPath, join(folder, "client.ts")],
    {
      ...{ cwd: folder, env: environmentIn(folder), stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    },
  );
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return {
    code: await child.exited,
    answers: out.split("\n").filter((line) => line.startsWith("ANSWER ")),
    err,
  };
}

test("the results of tools come from the tape, and no program starts", async () => {
  const model = startModel(({ results }) =>
    results.length === 0
      ? { calls: [{ name: "program__pid" }, { name: "program__remember", input: { said: "once" } }] }
      : { text: `The program says ${results.join(" and ")}.` },
  );
  const command = [process.execPath, join(import.meta.dir, "../attack/remembering-server.ts")];
  const program = { command, env: { FACTS: facts }, allow: ["*"] };
  const config = { providers: model.providers, tools: { pin: "off", servers: { program } } };
  mkdirSync(join(folder, "run"), { mode: 0o700 });
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify(config));
  writeFileSync(join(folder, "client.ts"), CLIENT);
  const recorded = await run("record", "run.tape");
  expect(recorded.code, recorded.err).toBe(0);
  expect(recorded.answers).toHaveLength(2);
  for (const answer of recorded.answers)
    expect(answer).toMatch(/^ANSWER 200 .*The program says \d+ and once\./);
  expect(readFileSync(facts, "utf8")).toBe("once\nonce\n");
  const turns = model.heard.length;
  expect(turns).toBe(4);
  model.stop();
  rmSync(facts);
  // Now it is a program that leaves a trace as soon as it starts.
  const trace = join(folder, "trace");
  const tracing = { ...program, command: [process.execPath, "-e", `await Bun.write("${trace}", "")`] };
  writeFileSync(
    join(folder, "weir.yaml"),
    JSON.stringify({ ...config, tools: { pin: "off", servers: { program: tracing } } }),
  );
  const replayed = await run("replay", "run.tape");
  expect(replayed.code, replayed.err).toBe(0);
  expect(replayed.answers).toEqual(recorded.answers);
  expect([existsSync(trace), existsSync(facts), model.heard.length]).toEqual([false, false, turns]);
});
