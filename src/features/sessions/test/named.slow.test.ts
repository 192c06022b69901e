/** Every call whose client names its session has it in the books, whatever its provider reports. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../../../test/helpers/serving.ts";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";

setDefaultTimeout(120_000);

let books: RunningBooks;
beforeAll(async () => {
  books = await startBooks({ workers: 2 });
});
afterAll(() => books.end());

/** @returns the session of the call in the books */
async function sessionOf(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${books.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "mock/echo", ...body }),
  });
  await response.text();
  const id = response.headers.get("x-request-id")!;
  let call: { session?: string } | undefined;
  await until(async () => {
    call = await books.api.send<{ session?: string }>("GET", `/calls/${id}`).catch(() => undefined);
    return call !== undefined;
  });
  return call!.session;
}

const CHAT = "/v1/chat/completions";
const messages = [{ role: "user", content: "Hello" }];

test("the session that a header names is in the record, the same for each call of it", async () => {
  const headers = { "x-session-id": "sess-9" };
  const first = await sessionOf(CHAT, { messages }, headers);
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(await sessionOf(CHAT, { messages: [{ role: "user", content: "Else" }] }, headers)).toBe(first!);
  expect(await sessionOf("/v1/messages", { messages, max_tokens: 9 }, headers)).toBe(first!);
  expect(await sessionOf("/v1/embeddings", { input: "a" }, headers)).toBe(first!);
  const { sessions } = await books.api.send<{ sessions: { session: string; count: number }[] }>(
    "GET",
    "/sessions",
  );
  expect(sessions).toMatchObject([{ session: first!, count: 4 }]);
});

test("so is the one in the body: the key of the cache, the user of the metadata", async () => {
  const one = await sessionOf("/v1/responses", { input: "Hello", prompt_cache_key: "thread-1" });
  expect(one).toMatch(/^[0-9a-f]{16}$/);
  expect(await sessionOf(CHAT, { messages, prompt_cache_key: "thread-1" })).toBe(one!);
  const user = { messages, max_tokens: 9, metadata: { user_id: "user_1_session_2" } };
  expect(await sessionOf("/v1/messages", user)).toMatch(/^[0-9a-f]{16}$/);
});

test("a call that fails or is refused has its session too, and one without a name has none", async () => {
  const headers = { "x-session-id": "sess-10" };
  const failed = await sessionOf(CHAT, { messages, model: "mock/error-503" }, headers);
  expect(failed).toMatch(/^[0-9a-f]{16}$/);
  expect(await sessionOf(CHAT, { messages, model: "nothing/none" }, headers)).toBe(failed!);
  expect(await sessionOf(CHAT, { messages })).toBeUndefined();
});
