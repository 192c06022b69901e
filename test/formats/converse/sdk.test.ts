/** Bodies that weir writes, sent by the AWS SDK: it drops members and refuses types that the service does not know. */
import { afterAll, expect, test } from "bun:test";
import { ConverseCommand, type ConverseCommandInput } from "@aws-sdk/client-bedrock-runtime";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { bedrockClient } from "../../helpers/bedrock-client.ts";
import { json, startUpstream } from "../../helpers/upstream.ts";

const FOLDER = join(import.meta.dir, "../../fixtures/requests");

/** The bodies of the crossing test, by name. */
function bodies(): [name: string, body: JsonObject][] {
  return readdirSync(FOLDER).flatMap((format) =>
    readdirSync(join(FOLDER, format))
      .filter((file) => file.endsWith(".converse.json"))
      .flatMap((file): [string, JsonObject][] => {
        const { body } = JSON.parse(readFileSync(join(FOLDER, format, file), "utf8")) as {
          body?: JsonObject;
        };
        return body ? [[`${format}/${file}`, body]] : [];
      }),
  );
}

/** The SDK takes bytes where the wire has base64. */
function withBytes(value: Json | undefined, name?: string): unknown {
  if (typeof value === "string" && (name === "bytes" || name === "redactedContent"))
    return new Uint8Array(Buffer.from(value, "base64"));
  if (Array.isArray(value)) return value.map((element) => withBytes(element));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withBytes(member, key)]));
}

const upstream = startUpstream(
  json({ output: { message: { role: "assistant", content: [{ text: "ok" }] } }, stopReason: "end_turn" }),
);
const client = bedrockClient(upstream.url);

afterAll(() => {
  client.destroy();
  upstream.stop();
});

test("there are bodies to send", () => {
  expect(existsSync(FOLDER)).toBe(true);
  expect(bodies().length).toBeGreaterThan(50);
});

test.each(bodies())("%s is sent by the SDK as weir writes it", async (_name, body) => {
  const input = { modelId: "us.anthropic.claude-x-v1:0", ...(withBytes(body) as object) };
  await client.send(new ConverseCommand(input as ConverseCommandInput));
  const sent = upstream.requests.at(-1)!;
  expect(sent.path).toBe("/model/us.anthropic.claude-x-v1%3A0/converse");
  expect(JSON.parse(sent.body.toString()) as JsonObject).toEqual(body);
});
