/** TLS to providers as the config asks for it, over real sockets. */
import { afterEach, expect, test } from "bun:test";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { type RunningGateway, startGateway, UPSTREAM_KEYS } from "../helpers/gateway.ts";
import { AUTHORITY, CLIENT, SERVER } from "../helpers/authority.ts";
import { answer, portOf } from "../helpers/stray.ts";

let gateway: RunningGateway | undefined;
let server: Server | undefined;
let requests = 0;

afterEach(async () => {
  await gateway?.stop();
  server?.close();
});

/** A provider that asks for a client certificate. */
async function start(): Promise<string> {
  requests = 0;
  server = createServer({ ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true });
  server.on("tlsClientError", () => {});
  server.on("secureConnection", (socket: TLSSocket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      if (!bytes.toString("latin1").includes("POST")) return;
      requests++;
      socket.end(answer("m1"));
    });
  });
  return `https://localhost:${await portOf(server)}/v1`;
}

async function ask(): Promise<Response> {
  return fetch(`${gateway!.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model: "openai/m", messages: [{ role: "user", content: "hi" }] }),
  });
}

async function gatewayTo(baseUrl: string, tls?: Record<string, string>): Promise<void> {
  gateway = await startGateway({
    config: { providers: { openai: { baseUrl, apiKey: UPSTREAM_KEYS.openai, ...(tls && { tls }) } } },
    plugins: { "_ca.pem": AUTHORITY, "_client.pem": CLIENT.cert, "_client.key": CLIENT.key },
  });
}

test("providers.X.tls: an authority of one's own, and a client certificate", async () => {
  await gatewayTo(await start(), {
    ca: "plugins/_ca.pem",
    cert: "plugins/_client.pem",
    key: "plugins/_client.key",
  });
  const response = await ask();
  expect(response.status).toBe(200);
  expect(((await response.json()) as { id: string }).id).toBe("m1");
});

test("without them the call fails with a sentence about the certificate, and nothing is sent", async () => {
  await gatewayTo(await start());
  const response = await ask();
  expect(response.status).toBe(502);
  expect(await response.text()).toContain("no trusted authority vouches for its certificate");
  expect(requests).toBe(0);
});

test("a file that holds no certificate stops the start and is named", async () => {
  const url = await start();
  await expect(gatewayTo(url, { ca: "plugins/_client.key" })).rejects.toThrow(
    /providers\.openai\.tls\.ca|must be a PEM file with a certificate/,
  );
  await expect(gatewayTo(url, { cert: "plugins/_client.pem" })).rejects.toThrow(
    /key is missing; cert needs it/,
  );
});
