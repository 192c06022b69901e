/** Pages of other sites, and names that lead to this machine, at the endpoints: each request byte by byte. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway, TARGET } from "../../../../../test/helpers/gateway.ts";
import { fakeServer, text } from "../support/servers.ts";
import { LegacyClient } from "../support/clients.ts";

setDefaultTimeout(60_000);

const fake = fakeServer("legacy", { echo: () => text("here") });
const APP = "https://app.example:8443";
let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    target: TARGET === "source" ? "process" : TARGET,
    config: {
      cors: { origins: [APP] },
      tools: { pin: "off", servers: { fake: { url: fake.url, allow: ["*"] } } },
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  fake.stop();
});

/** @param headers lines @returns the status */
async function statusOf(method: string, session: string, headers: readonly string[]): Promise<number> {
  const body = method === "POST" ? '{"jsonrpc":"2.0","id":1,"method":"ping"}' : "";
  const hasHost = headers.some((line) => /^host:/i.test(line));
  const lines = [
    `${method} /mcp/fake HTTP/1.1`,
    ...(hasHost ? [] : [`Host: 127.0.0.1:${gateway.port}`]),
    ...headers,
    `Mcp-Session-Id: ${session}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  const { promise, resolve } = Promise.withResolvers<string>();
  let got = "";
  const socket = await Bun.connect({
    ...{ hostname: "127.0.0.1", port: gateway.port },
    socket: {
      data(_, bytes) {
        got += bytes.toString();
        if (got.includes("\r\n")) resolve(got);
      },
      close: () => resolve(got),
    },
  });
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  const answer = await promise;
  socket.end();
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

const WRONG: Record<string, readonly string[]> = {
  "a foreign page": ["Origin: https://evil.example"],
  "a page without an origin": ["Origin: null"],
  "an empty origin": ["Origin: "],
  "another port of an allowed page": ["Origin: https://app.example"],
  "another scheme of an allowed page": ["Origin: http://app.example:8443"],
  "another scheme of this machine": ["Origin: ftp://localhost"],
  "a name in front of a foreign host": ["Origin: http://localhost@evil.example"],
  "a name in front of this machine": ["Origin: http://evil.example@localhost"],
  "a path behind this machine": ["Origin: http://localhost/evil.example"],
  "a foreign host with a dot": ["Origin: https://evil.example."],
  "an allowed page with a dot": ["Origin: https://app.example.:8443"],
  "upper case": ["Origin: HTTPS://EVIL.EXAMPLE"],
  "an address of version 6": ["Origin: http://[2001:db8::1]:3000"],
  "this machine inside version 6": ["Origin: http://[::ffff:203.0.113.7]"],
  "this machine as a prefix": ["Origin: http://localhost.evil.example"],
  "its address as a prefix": ["Origin: http://127.0.0.1.evil.example"],
  "an allowed page as a prefix": ["Origin: https://app.example.evil.example:8443"],
  "an allowed page as a suffix": ["Origin: https://evilapp.example:8443"],
  "two origins": ["Origin: http://localhost", "Origin: https://evil.example"],
  "two origins, the foreign one first": ["Origin: https://evil.example", "Origin: http://localhost"],
  "two origins in one header": ["Origin: http://localhost https://evil.example"],
  "a name that leads here": ["Host: attacker.example"],
  "a name that leads here, from its page": ["Host: attacker.example", "Origin: http://attacker.example"],
  "a name that leads here, from a local page": ["Host: attacker.example", "Origin: http://localhost"],
  "a name with this machine in front": ["Host: localhost.attacker.example"],
  "a name with the address in front": ["Host: 127.0.0.1.attacker.example"],
};

test.each(Object.entries(WRONG))("%s is refused, whatever the method", async (_, headers) => {
  const { session } = await LegacyClient.open({ url: `${gateway.url}/mcp/fake` });
  const statuses = await Promise.all(["GET", "POST"].map((method) => statusOf(method, session, headers)));
  const ended = await statusOf("DELETE", session, headers);
  expect([...statuses, ended]).toEqual([403, 403, 403]);
  expect(await statusOf("DELETE", session, [])).toBe(204);
});

test.each([
  [`Origin: ${APP}`],
  ["Origin: http://localhost:1234"],
  ["Origin: http://[::1]"],
  ["Host: LOCALHOST"],
])("%s may ask", async (header) => {
  const { session } = await LegacyClient.open({ url: `${gateway.url}/mcp/fake` });
  expect(await statusOf("POST", session, [header])).toBe(200);
  expect(await statusOf("GET", session, [header])).toBe(200);
  expect(await statusOf("DELETE", session, [header])).toBe(204);
});
