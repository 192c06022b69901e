/** The documents that the gateway serves: the same bytes from source and from the binary. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { fullText } from "../../src/documents/full-text.ts";
import { indexText } from "../../src/documents/index-text.ts";
import { readLibrary } from "../../src/documents/library.ts";
import { ROOT } from "../helpers/documents.ts";
import type { RunningGateway } from "../helpers/gateway.ts";
import { startGateway } from "../helpers/gateway.ts";

const KEY = "a-key-that-is-long-enough";
const library = readLibrary(ROOT);

let gateway: RunningGateway;
beforeAll(async () => void (gateway = await startGateway({ config: { keys: [{ name: "k", key: KEY }] } })));
afterAll(() => gateway.stop());

for (const [path, text] of [
  ["/llms.txt", indexText(library)],
  ["/llms-full.txt", fullText(library)],
] as const) {
  test(`GET ${path} serves the documents of this version`, async () => {
    const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${KEY}` } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("x-request-id")).toStartWith("req_");
    expect(await response.text()).toBe(text);
  });

  test(`GET ${path} needs a key where calls need one`, async () => {
    expect((await fetch(gateway.url + path)).status).toBe(401);
  });
}

test("every path that llms.txt names answers", async () => {
  const paths = [...indexText(library).matchAll(/\]\((\/[^)#\s]*)/g)].map(([, path]) => path!);
  for (const path of new Set(paths))
    expect((await fetch(gateway.url + path, { headers: { "x-api-key": KEY } })).status).toBe(200);
});
