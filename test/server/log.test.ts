/** The log: what clients and upstreams chose is text in it and nothing else, and a reader that stalls costs lines, not memory. */
import { describe, expect, test } from "bun:test";
import { Attempt, Call } from "../../src/core/call.ts";
import type { Target } from "../../src/core/provider.ts";
import { entryOf } from "../helpers/keys.ts";
import { compilePrincipal } from "../../src/ledger/keys/principal.ts";
import { createLogger, type LogOptions } from "../../src/server/log.ts";

/** A new line, ESC, DEL, a C1 control (CSI), a line separator, a bidi override, a zero-width space, half a surrogate pair. */
const HOSTILE = "a\r\n12:00:00  200  complete\x1b[2J\x7f\x9b31m\u2028\u202e\u200b\ud800z";
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

function hostileCall(): Call {
  const call = new Call(HOSTILE, HOSTILE, new Headers());
  call.model = HOSTILE;
  call.principal = compilePrincipal(entryOf(HOSTILE, "key"));
  call.status = 400;
  call.outcome = "failed";
  call.skipped = [HOSTILE];
  call.error = { kind: "invalid", code: HOSTILE, message: HOSTILE, cause: HOSTILE };
  const provider = { name: HOSTILE };
  const target = { provider, deployment: provider, model: HOSTILE, lane: "native" } as unknown as Target;
  const attempt = new Attempt(call, target);
  attempt.finish = HOSTILE;
  attempt.upstreamRequestId = HOSTILE;
  attempt.reportLoss("dropped", HOSTILE, HOSTILE);
  return call;
}

async function written(
  format: LogOptions["format"],
  use: (log: ReturnType<typeof createLogger>) => void,
): Promise<string> {
  let text = "";
  const log = createLogger({ format, level: "info", write: (piece) => void (text += piece) });
  use(log);
  await log.flush();
  return text;
}

describe.each(["json", "pretty"] as const)("the %s log", (format) => {
  test("has no control character of a client, and one line a call", async () => {
    const text = await written(format, (log) => log.call(hostileCall()));
    expect(text.slice(0, -1)).not.toMatch(CONTROL);
    expect(text.endsWith("\n")).toBe(true);
  });

  test("has no control character in messages, facts and faults", async () => {
    const text = await written(format, (log) => {
      log.info(HOSTILE, { fact: HOSTILE });
      log.fault(HOSTILE, HOSTILE);
    });
    const lines = text.slice(0, -1).split("\n");
    for (const line of lines) expect(line).not.toMatch(CONTROL);
    // A fault's detail may take several lines in the readable log; none of them looks like a line of its own.
    for (const line of lines.slice(1)) expect(line).toMatch(format === "json" ? /^\{/ : /^(\d\d:|    )/);
    expect(lines.filter((line) => line.startsWith("12:00:00"))).toEqual([]);
  });
});

test("the JSON log gives back what the client sent when it is parsed", async () => {
  const text = await written("json", (log) => log.call(hostileCall()));
  expect(JSON.parse(text)).toMatchObject({ model: HOSTILE, error: { message: HOSTILE } });
});

/** A reader that takes the first piece only when it is let. */
function stalledReader() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const pieces: string[] = [];
  const write = (text: string) => {
    pieces.push(text);
    return pieces.length === 1 ? promise : undefined;
  };
  return { pieces, write, read: resolve };
}

describe("a reader that stalls", () => {
  test("costs a bounded buffer; the lines that are dropped are counted and said", async () => {
    const reader = stalledReader();
    const log = createLogger({ format: "json", level: "info", write: reader.write });
    log.info("the first line", {});
    await Bun.sleep(50);
    expect(reader.pieces.length).toBe(1);
    const LINES = 10_000;
    for (let n = 0; n < LINES; n++) log.info("x".repeat(1_000), {});
    await Bun.sleep(50);
    // Nothing more is handed over while the first piece waits.
    expect(reader.pieces.length).toBe(1);
    reader.read();
    await log.flush();
    const lines = reader.pieces.slice(1).join("").split("\n").slice(0, -1);
    const kept = lines.filter((line) => line.includes("xxx")).length;
    expect(reader.pieces.slice(1).join("").length).toBeLessThan(2_000_000);
    expect(kept).toBeGreaterThan(100);
    const said = lines.find((line) => line.includes("log lines were dropped"))!;
    expect(JSON.parse(said)).toMatchObject({ level: "error", dropped: LINES - kept });
    // The next line is written as before.
    log.info("the last line", {});
    await log.flush();
    expect(reader.pieces.at(-1)).toContain("the last line");
  });

  test("does not keep one that flushes waiting for longer than it says", async () => {
    const reader = stalledReader();
    const log = createLogger({ format: "json", level: "info", write: reader.write });
    log.info("the first line", {});
    await Bun.sleep(50);
    log.info("the second line", {});
    await log.flush(50);
    expect(reader.pieces.length).toBe(1);
  });
});

test.each(["json", "pretty"] as const)(
  "the %s log has no credential in the place of a model",
  async (format) => {
    const word = "Ab1Cd2Ef3Gh4Ij5Kl6";
    const call = new Call("req_1", "chat-completions", new Headers());
    call.model = `openai/sk-proj-${word}`;
    call.routedModel = `openai/sk-ant-${word}`;
    call.error = { kind: "not-found", message: `The model \`sk-proj-${word}\` does not exist` };
    const provider = { name: "openai" };
    const target = {
      provider,
      deployment: provider,
      model: `sk-${word}`,
      lane: "native",
    } as unknown as Target;
    const attempt = new Attempt(call, target);
    call.attempts.push(attempt);
    const text = await written(format, (log) => log.call(call));
    expect(text).not.toContain(word);
    expect(text).toContain("openai/[credential]");
  },
);
