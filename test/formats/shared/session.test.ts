/** What identifies a conversation, so that weir keeps it at one deployment. */
import { describe, expect, test } from "bun:test";
import type { ClientCodec } from "../../../src/core/format.ts";
import { scanBody } from "../../../src/stream/scan.ts";
import { client as chat } from "../chat-completions/make.ts";
import { client as messages } from "../messages/make.ts";
import { client as responses } from "../responses/make.ts";

function sessionOf(client: ClientCodec, body: object, headers: Record<string, string> = {}) {
  const bytes = Buffer.from(JSON.stringify(body));
  const { members } = scanBody(bytes, 100);
  return client.facts.sessionOf!({
    headers: new Headers(headers),
    bytes,
    spanOf: (name) => members.get(name),
  });
}

const user = (text: string) => ({ role: "user", content: text });
const said = (text: string) => ({ role: "assistant", content: text });

test("the session a client names comes first, then the key of its cache, then its user", () => {
  const body = { messages: [user("hi")], prompt_cache_key: "cache", metadata: { user_id: "someone" } };
  for (const client of [chat, messages]) {
    expect(sessionOf(client, body, { "x-claude-code-session-id": "session" })).toBe("session");
    expect(sessionOf(client, body, { session_id: "codex" })).toBe("codex");
    expect(sessionOf(client, { ...body, prompt_cache_key: undefined })).toBe("someone");
  }
  expect(sessionOf(chat, body)).toBe("cache");
});

test("a responses client is known by its headers, its cache key, or the first thing the user said", () => {
  const affinity = (input: unknown, more: object = {}, headers: Record<string, string> = {}) =>
    sessionOf(responses, { model: "m", input, ...more }, headers);
  expect(affinity("hi", { prompt_cache_key: "cache" }, { "session-id": "codex" })).toBe("codex");
  expect(affinity("hi", { prompt_cache_key: "cache" })).toBe("cache");
  const first = affinity([{ role: "developer", content: "d" }, user("one")]);
  expect(affinity([user("one"), said("x"), user("two")])).toBe(first);
  expect(affinity([user("two")])).not.toBe(first);
  expect(affinity("one")).toBe("one");
});

describe.each([
  ["chat-completions", chat],
  ["messages", messages],
] as const)("%s", (_id, client) => {
  const affinity = (body: object) => sessionOf(client, body);

  test("else the first thing the user said, the same in every turn", () => {
    const system = { role: "system", content: "be kind" };
    const first = affinity({ model: "m", messages: [system, user("one")] });
    expect(
      affinity({ model: "m", stream: true, messages: [system, user("one"), said("x"), user("y")] }),
    ).toBe(first);
    expect(affinity({ model: "m", messages: [system, user("two")] })).not.toBe(first);
    expect(affinity({ model: "m", messages: [{ ...system, content: "now: 12:01" }, user("one")] })).toBe(
      first,
    );
  });

  test("a cache mark that moves on does not change it", () => {
    const block = { type: "text", text: "one" };
    const marked = { ...block, cache_control: { type: "ephemeral", ttl: "1h" } };
    const before = affinity({ messages: [{ role: "user", content: [marked] }] });
    const after = affinity({ messages: [{ role: "user", content: [block] }, said("x"), user("two")] });
    expect(after).toBe(before);
  });

  test("whoever writes the role last, and however long the first words are", () => {
    const long = "x".repeat(50_000);
    const roleLast = affinity({
      messages: [
        { content: "a", role: "system" },
        { content: long, role: "user" },
      ],
    });
    expect(roleLast?.length).toBe(4096);
    expect(
      affinity({ messages: [{ content: '"role":"user"'.repeat(9), role: "system" }, user("one")] }),
    ).toBe(affinity({ messages: [user("one")] }));
  });

  test("no conversation, no affinity", () => {
    for (const body of [{}, { messages: [] }, { messages: "x" }, { messages: [said("x")] }, { metadata: 3 }])
      expect(affinity(body)).toBeUndefined();
  });
});
