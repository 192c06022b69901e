/** A maker that gives addresses, and a client that wants base64. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { startBooked } from "../helpers/books.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { json, redirect, startUpstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

const IMAGE = Buffer.alloc(300_000, 6);

/** @param urlOf the address in the answer, for the one of the host */
async function start(urlOf: (own: string) => string) {
  const secret = startUpstream({ body: IMAGE });
  const host = startUpstream((request) => {
    if (request.path === "/made.png") return { headers: { "content-type": "image/png" }, body: IMAGE };
    if (request.path === "/moved.png") return redirect(302, `${secret.url}/made.png`);
    return json({ created: 1, data: [{ url: urlOf(host.url), revised_prompt: "a cat" }] });
  });
  const does = { image: { "openai-images": "/draw" } };
  const gateway = await startBooked({
    providers: { host: { baseUrl: host.url, models: ["*"], does } },
    prices: { "host/m": { units: { image: 0.02 } } },
    retries: { attempts: 3 },
  });
  running.push(gateway, host, secret);
  return { gateway, host, secret, client: openaiClient(gateway.url) };
}

test("an image at the host of its maker is fetched, which is told", async () => {
  const { client, host } = await start((own) => `${own}/made.png`);
  const asked = { model: "host/m", prompt: "a", response_format: "b64_json" } as const;
  const { data, response } = await client.images.generate(asked).withResponse();
  expect(data.data).toEqual([{ b64_json: IMAGE.toString("base64"), revised_prompt: "a cat" }]);
  expect(response.headers.get("x-weir-warnings")).toContain("converted:response_format");
  expect(host.requests.map(({ path }) => path)).toEqual(["/draw", "/made.png"]);
});

test("an address stays what it is where the client does not want base64", async () => {
  const { client, host } = await start((own) => `${own}/made.png`);
  const answer = await client.images.generate({ model: "host/m", prompt: "a" });
  expect(answer.data![0]!.url).toBe(`${host.url}/made.png`);
  expect(host.requests.length).toBe(1);
});

test.each([
  ["a redirect", (own: string) => `${own}/moved.png`],
  ["another port of this machine", () => "https://127.0.0.1:9/made.png"],
  ["this machine by name", () => "https://localhost:9/made.png"],
  ["the service of metadata", () => "https://169.254.169.254/latest/meta-data"],
  ["an address without encryption", () => "http://10.0.0.1/made.png"],
  ["a mapped address", () => "https://[::ffff:127.0.0.1]/made.png"],
  ["no address", () => "made.png"],
  ["a file", () => "file:///etc/passwd"],
])("%s is refused; the image is paid once", async (_, urlOf) => {
  const { client, gateway, host, secret } = await start(urlOf);
  const error = await seeError(() =>
    client.images.generate({ model: "host/m", prompt: "a", response_format: "b64_json" }),
  );
  expect([error.status, error.message]).toEqual([502, expect.stringContaining("cannot fetch")]);
  expect(secret.requests.length).toBe(0);
  expect(host.requests.filter(({ path }) => path === "/draw").length).toBe(1);
  const { calls } = await gateway.finish();
  expect(calls.map(({ cost, state }) => [cost, CHARGE_STATES[state]!])).toEqual([[20_000_000, "metered"]]);
});
