/** A call as a command for the shell, for what is no text from a conversation. */
import { expect, test } from "bun:test";
import { curlOf, isConversation } from "../../../src/console/pages/calls/curl.ts";
import type { CallEntry } from "../../../src/console/data/types.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { hasRequests } from "../../../src/core/model-kind.ts";
import { kinds } from "../../../src/kinds/index.ts";

const callOf = (format: string) => ({ format, model: "mock/any", stream: false }) as CallEntry;

/** Path and body of a command. */
function sentBy(command: string): [path: string, body: JsonObject] {
  const path = /^curl '?http:\/\/127\.0\.0\.1:9347([^\s']+)/.exec(command)![1]!;
  const fields = [...command.matchAll(/ -F '(\w+)=(@?)(.*)'/g)];
  if (fields.length > 0)
    return [
      path,
      Object.fromEntries(
        fields.map(([, name, at, text]) => [name!, at ? { filename: text!, bytes: 1 } : text!]),
      ),
    ];
  return [path, JSON.parse(/ -d '(.*)'$/s.exec(command)![1]!) as JsonObject];
}

test.each(kinds.filter(hasRequests).map((kind) => [kind.id, kind] as const))(
  "a command for %s is a request that weir takes",
  (id, kind) => {
    const [path, body] = sentBy(curlOf(callOf(id)));
    const route = kind.routes.find((one) => one.path === path);
    expect(route?.checkRequest(body)).toBeUndefined();
    expect(route).toBeDefined();
    expect(body["model"]).toBe("mock/any");
    expect(isConversation(callOf(id))).toBe(false);
  },
);

test("text from a conversation is asked as before", () => {
  const [path, body] = sentBy(curlOf(callOf("messages")));
  expect(path).toBe("/v1/messages");
  expect(body["messages"]).toEqual([{ role: "user", content: "…" }]);
  expect(isConversation(callOf("gemini"))).toBe(true);
  expect(sentBy(curlOf(callOf("fim")))[0]).toBe("/v1/fim/completions");
});
