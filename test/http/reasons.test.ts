/** Why a request failed is told apart, with how far it had come. */
import { afterEach, expect, test } from "bun:test";
import { createSecureServer } from "node:http2";
import { createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { HttpClient } from "../../src/http/client.ts";
import { describeReason, HttpError, type Phase, type Reason } from "../../src/http/error.ts";
import type { UpstreamRequest } from "../../src/http/types.ts";
import { SELF_SIGNED } from "../faults/upstream/self-signed.ts";
import { AUTHORITY, CLIENT, SERVER } from "../helpers/authority.ts";
import { portOf } from "../helpers/stray.ts";

const servers: { close(): void }[] = [];
let client: HttpClient | undefined;

afterEach(() => {
  client?.close();
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on("connection", (socket) => socket.on("error", () => {}));
  server.on("tlsClientError", () => {});
  return portOf(server);
}

const stop = new AbortController().signal;

function ask(url: string, more: Partial<UpstreamRequest> = {}) {
  client = new HttpClient();
  return client.request({ url, headers: {}, body: [], stop, ...more });
}

async function failure(url: string, more?: Partial<UpstreamRequest>): Promise<[Reason, Phase]> {
  const thrown: unknown = await ask(url, more).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(HttpError);
  const { reason, phase } = thrown as HttpError;
  return [reason, phase];
}

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

test("a certificate of an unknown authority is a TLS failure", async () => {
  const port = await listen(createTlsServer(SERVER));
  expect(await failure(`https://localhost:${port}/`)).toEqual(["tls-untrusted", "tls"]);
  const own = await listen(createTlsServer(SELF_SIGNED));
  expect(await failure(`https://127.0.0.1:${own}/`)).toEqual(["tls-untrusted", "tls"]);
});

test("so is a certificate for another name", async () => {
  const port = await listen(createTlsServer(SELF_SIGNED));
  const tls = { ca: SELF_SIGNED.cert };
  expect(await failure(`https://localhost:${port}/`, { tls })).toEqual(["tls-name", "tls"]);
});

test("an authority of the config is trusted, and a client certificate is shown", async () => {
  const server = createTlsServer({ ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true });
  server.on("secureConnection", (socket) => socket.on("data", () => socket.write(ANSWER)));
  const url = `https://localhost:${await listen(server)}/`;
  const answer = await ask(url, { tls: { ca: AUTHORITY, ...CLIENT } });
  expect(Buffer.from(await answer.bytes()).toString()).toBe("ok");
  client!.close();
  const without = await ask(url, { tls: { ca: AUTHORITY } }).catch((error: unknown) => error);
  expect(without).toBeInstanceOf(HttpError);
});

test("an upstream that speaks HTTP/2 only is neither a refused credential nor a closed connection", async () => {
  const secure = createSecureServer({ ...SERVER, allowHTTP1: false });
  const port = await listen(secure as unknown as Server);
  expect(await failure(`https://localhost:${port}/`, { tls: { ca: AUTHORITY } })).toEqual(["http2", "tls"]);
  const settings = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);
  const plain = await listen(
    createServer((socket) => {
      socket.once("data", () => socket.end(settings));
    }),
  );
  expect(await failure(`http://127.0.0.1:${plain}/`)).toEqual(["http2", "head"]);
  expect(describeReason("http2")).toContain("HTTP/2");
});

test.each<[code: string, reason: Reason, phase: Phase]>([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls-untrusted", "tls"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "tls-untrusted", "tls"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls-untrusted", "tls"],
  ["CERT_HAS_EXPIRED", "tls-expired", "tls"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls-name", "tls"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls", "tls"],
  ["ConnectionRefused", "refused", "connect"],
  ["FailedToOpenSocket", "dns", "dns"],
  ["ECONNRESET", "reset", "sent"],
])("%s is %s, in phase %s", (code, reason, phase) => {
  const error = HttpError.from(Object.assign(new Error("x"), { code }), "sent");
  expect([error.reason, error.phase]).toEqual([reason, phase]);
});
