/** A guard in front of kept answers: they hold its tokens, and each client gets its own values back. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Around, NamedPart, WorkerHost, WorkerPart } from "../../../gateway/seams.ts";
import { Passed } from "../../../gateway/delivery/stream.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { guardPart } from "../../../../test/helpers/guard.ts";

const EMAIL = "anna@example.com";
const TOKEN = "PII_EMAIL_zh5hkibg";

/** What comes from the place of kept answers. */
const outwards: string[] = [];

class Seen extends Passed {
  override piece(bytes: Uint8Array): void {
    outwards.push(Buffer.from(bytes).toString());
    super.piece(bytes);
  }
}

const look: Around = async (entry, next) => {
  expect(Buffer.from(entry.bytes).toString()).not.toContain(EMAIL);
  const opened = await next();
  return opened.kind === "stream" ? { ...opened, source: new Seen(opened.source) } : opened;
};

const looking: NamedPart<WorkerHost, WorkerPart> = {
  name: "look",
  load: async () => ({ start: () => ({ seams: () => ({ around: { at: "outline", run: look } }) }) }),
};

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    target: "source",
    config: { paidOnce: { enabled: true } },
    workers: [guardPart(new Map([[EMAIL, TOKEN]])), looking],
  });
});

afterAll(() => gateway.stop());

async function ask(): Promise<[paidOnce: string | null, text: string]> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "guarded" },
    body: JSON.stringify({
      ...{ model: "mock/echo", stream: true },
      messages: [{ role: "user", content: `Write to ${EMAIL} at once.` }],
    }),
  });
  const events = [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(([, data]) =>
    JSON.parse(data!),
  );
  const text = events.map(({ choices }) => choices[0]?.delta?.content ?? "").join("");
  return [response.headers.get("x-weir-paid-once"), text];
}

test("a repeat gets the kept answer with its values, and the kept answer has none", async () => {
  const said = `Write to ${EMAIL} at once.`;
  const answers = [await ask(), await ask()];
  expect(answers).toEqual([
    [null, said],
    ["finished", said],
  ]);
  const kept = outwards.join("");
  expect(kept).not.toContain(EMAIL);
  expect(kept).not.toContain("example.com");
});
