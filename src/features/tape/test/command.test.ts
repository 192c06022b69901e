/** `weir record` and `weir replay` as a developer runs them, with a client of their own and without a network. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { PROGRAM, runCommand } from "../../../../test/helpers/command.ts";
import { upstreamConfig } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(120_000);

/** Asks once and prints the answer as it comes. Arguments: prompt, path, exit code. */
const CLIENT = `
const [prompt, path = "/v1/chat/completions", code = "0"] = process.argv.slice(2);
const body = { model: process.env.MODEL ?? "mock/chat", max_tokens: 50, stream: true, messages: [{ role: "user", content: prompt }] };
const response = await fetch(process.env.WEIR_URL + path, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
console.log(response.status, await response.text());
process.exit(Number(code));
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-tape-"));
  await Bun.write(join(folder, "client.ts"), CLIENT);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const client = (...args: string[]) => ["--", process.execPath, "client.ts", ...args];
const weir = (...args: string[]) => runCommand(args, { cwd: folder });

test("a client that was recorded gets the same bytes from the tape, and weir ends with its exit code", async () => {
  const recorded = await weir("record", "job.tape", ...client("Hello"));
  expect(recorded).toMatchObject({ code: 0, out: expect.stringContaining("200 data:") });
  expect(recorded.err).toContain("1 call is on the tape job.tape");
  const replayed = await weir("replay", "job.tape", ...client("Hello"));
  expect(replayed).toMatchObject({ code: 0, out: recorded.out });
  const failing = await weir("replay", "job.tape", ...client("Hello", "/v1/chat/completions", "7"));
  expect(failing).toMatchObject({ code: 7, out: recorded.out });
});

test("the tape answers where there is no network", async () => {
  const isolated = Bun.spawnSync(["unshare", "-n", "true"]).success;
  if (!isolated)
    return console.warn("This user cannot make a network namespace: replay ran with its network.");
  const { out } = await weir("record", "job.tape", ...client("Hello"));
  const script = `ip link set lo up && exec "$@"`;
  const command = [...PROGRAM, "replay", "job.tape", ...client("Hello")];
  const child = Bun.spawn(["unshare", "-n", "sh", "-c", script, "sh", ...command], {
    cwd: folder,
    env: environmentIn(folder),
    stdout: "pipe",
    stderr: "pipe",
    timeout: 60_000,
  });
  expect(await new Response(child.stdout).text()).toBe(out);
  expect(await child.exited).toBe(0);
});

test("another prompt ends a client that succeeds with 1, and both are told the difference", async () => {
  await weir("record", "job.tape", ...client("Review a.ts"));
  const { code, out, err } = await weir("replay", "job.tape", ...client("Review b.ts"));
  expect(code).toBe(1);
  expect(err).toContain("-   | Review a.ts\n+   | Review b.ts");
  expect(err).toContain("1 request was not on the tape job.tape");
  const [status, text] = [out.slice(0, 3), out.slice(4)];
  expect([status, JSON.parse(text).error.code]).toEqual(["400", "not_on_tape"]);
});

test("a client of another dialect gets the difference in its own error", async () => {
  await weir("record", "job.tape", ...client("Review a.ts"));
  const { out } = await weir("replay", "job.tape", ...client("Review b.ts", "/v1/messages"));
  const { type, error } = JSON.parse(out.slice(4)) as {
    type: string;
    error: { type: string; message: string };
  };
  expect([type, error.type]).toEqual(["error", "invalid_request_error"]);
  expect(error.message).toContain("is call 1, in the format chat-completions;");
});

test("the configured providers get no request from a replay, whatever the config sets", async () => {
  const upstream = startUpstream(
    json({
      ...{ id: "c", object: "chat.completion", created: 1, model: "gpt-4.1" },
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    }),
  );
  const config = {
    ...upstreamConfig({ openai: upstream.url }),
    workers: 3,
    state: join(folder, "state"),
    budgets: { all: { on: "all", every: "day", limit: 0 } },
  };
  await Bun.write(join(folder, "weir.yaml"), JSON.stringify(upstreamConfig({ openai: upstream.url })));
  const env = { MODEL: "gpt-4.1" };
  const recorded = await runCommand(["record", "job.tape", ...client("Hello")], { cwd: folder, env });
  const asked = upstream.requests.length;
  expect(asked).toBeGreaterThan(0);
  await Bun.write(join(folder, "weir.yaml"), JSON.stringify(config));
  const replayed = await runCommand(["replay", "job.tape", ...client("Hello")], { cwd: folder, env });
  expect(replayed).toMatchObject({ code: 0, out: recorded.out });
  expect(await Bun.file(join(folder, "state/weir.db")).exists()).toBe(false);
  expect(upstream.requests.length).toBe(asked);
  upstream.stop();
});

test("SIGTERM reaches the client, and weir ends after it", async () => {
  const waiting = `process.on("SIGTERM", () => { console.log("told"); process.exit(5); }); setInterval(() => {}, 1000); console.log("ready");`;
  await Bun.write(join(folder, "waits.ts"), waiting);
  const running = Bun.spawn([...PROGRAM, "record", "job.tape", "--", process.execPath, "waits.ts"], {
    cwd: folder,
    env: environmentIn(folder),
    stdout: "pipe",
    stderr: "ignore",
    timeout: 60_000,
  });
  let out = "";
  for await (const piece of running.stdout.pipeThrough(new TextDecoderStream())) {
    if (out === "" && piece.includes("ready")) running.kill("SIGTERM");
    out += piece;
  }
  expect([out, await running.exited]).toEqual(["ready\ntold\n", 5]);
});

test("without a client the gateway runs until a signal, and its start table names the tape", async () => {
  await weir("record", "job.tape", ...client("Hello"));
  const running = Bun.spawn([...PROGRAM, "replay", "job.tape", "--port", "0"], {
    cwd: folder,
    env: environmentIn(folder),
    stdout: "ignore",
    stderr: "pipe",
    timeout: 60_000,
  });
  let table = "";
  for await (const piece of running.stderr.pipeThrough(new TextDecoderStream())) {
    if (!table.includes("tape:") && piece.includes("tape:")) running.kill("SIGTERM");
    table += piece;
  }
  expect(table).toContain("tape: 1 call of job.tape answers, no provider does");
  expect(await running.exited).toBe(0);
});

const HEAD = '{"tape":1,"weir":"0.1.0"}\n';

const FAULTS: readonly (readonly [what: string, text: string | undefined, sentence: string])[] = [
  ["a missing file", undefined, "cannot be read: there is no such file"],
  ["another file", "Dear diary\n", "is not a tape; weir record"],
  ["a tape of a newer weir", '{"tape":99,"weir":"9.0.0"}\n', "was recorded by weir 9.0.0, which is newer"],
  ["a damaged line", `${HEAD}{"call":1,"answer":[]}\n`, "line 2 of the tape"],
  ["a tape that was cut off", `${HEAD}{"call":1,"operation":"gene`, "line 2 of the tape"],
];

for (const [what, text, sentence] of FAULTS)
  test(`a replay of ${what} ends with a sentence`, async () => {
    if (text !== undefined) await Bun.write(join(folder, "job.tape"), text);
    const { code, err } = await weir("replay", "job.tape", ...client("Hello"));
    expect(code).toBe(1);
    expect(err).toContain(sentence);
    expect(err.trim().split("\n").length).toBe(1);
  });

test("a recording does not overwrite a file that is no tape", async () => {
  await Bun.write(join(folder, "notes.txt"), "Dear diary\n");
  const { code, err } = await weir("record", "notes.txt", ...client("Hello"));
  expect([code, err]).toEqual([1, expect.stringContaining("is not a tape; name another file")]);
  expect(await Bun.file(join(folder, "notes.txt")).text()).toBe("Dear diary\n");
});

test("wrong arguments are a sentence each", async () => {
  const cases: [args: string[], code: number, sentence: string][] = [
    [["record"], 2, "FILE"],
    [["replay", "job.tape", "--timing", "slow"], 2, "--timing can be cut or kept"],
    [["record", "job.tape", "--", "no-such-program"], 127, "no-such-program cannot be run"],
  ];
  for (const [args, code, sentence] of cases)
    expect(await weir(...args)).toMatchObject({ code, err: expect.stringContaining(sentence) });
});
