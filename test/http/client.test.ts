/** The client over real sockets, against a server that says exactly what a test wants. */
import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { HttpClient } from "../../src/http/client.ts";
import { HttpError } from "../../src/http/error.ts";
import type { UpstreamRequest } from "../../src/http/types.ts";

interface Peer {
  url: string;
  /** Connections so far. */
  connections: number;
  /** Requests so far, head and body. */
  requests: string[];
  open: Set<Socket>;
}

const servers: Server[] = [];
const clients: HttpClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  for (const server of servers.splice(0)) server.close();
  slowest = 0;
});

/** A server that hands every whole request to `answer`. */
async function serve(answer: (socket: Socket, request: string, count: number) => void): Promise<Peer> {
  const peer: Peer = { url: "", connections: 0, requests: [], open: new Set() };
  const server = createServer((socket) => {
    peer.connections++;
    peer.open.add(socket);
    let text = "";
    socket.on("error", () => {});
    socket.on("close", () => peer.open.delete(socket));
    socket.on("data", (data) => {
      text += data.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + length) return;
      peer.requests.push(text);
      text = "";
      answer(socket, peer.requests.at(-1)!, peer.requests.length);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  peer.url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1/x?y=z`;
  return peer;
}

function makeClient(options?: ConstructorParameters<typeof HttpClient>[0]): HttpClient {
  const client = new HttpClient(options);
  clients.push(client);
  return client;
}

/** The longest time to an answer in this test. Milliseconds. */
let slowest = 0;

async function ask(client: HttpClient, request: UpstreamRequest) {
  const began = performance.now();
  const answer = await client.request(request);
  slowest = Math.max(slowest, performance.now() - began);
  return answer;
}

function post(client: HttpClient, url: string, body = "{}", signal = new AbortController().signal) {
  const headers = { "content-type": "application/json" };
  return ask(client, { url, headers, body: [Buffer.from(body)], stop: signal });
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const whole = (body: string, more = "") =>
  `HTTP/1.1 200 OK\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;

/** What a promise was rejected with. */
async function failure(pending: Promise<unknown>): Promise<HttpError> {
  const error = await pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(HttpError);
  return error as HttpError;
}

/** Waits until a connection is idle after its answer, and may be reused: after three times the average response time. */
const untilReady = () => Bun.sleep(30 + 4 * slowest);

async function eventually(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400 && !holds(); tries++) await Bun.sleep(5);
  expect(holds()).toBe(true);
}

test("a request as RFC 9112 has it, and its answer", async () => {
  const peer = await serve((socket) => socket.write(whole("hello", "x-a: b\r\n")));
  const answer = await post(makeClient(), peer.url, "body");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-a")).toBe("b");
  expect(text(await answer.bytes())).toBe("hello");
  expect(peer.requests[0]).toBe(
    `POST /v1/x?y=z HTTP/1.1\r\nhost: ${new URL(peer.url).host}\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\nbody`,
  );
});

test("GET and DELETE have neither a body nor a length, PUT has both", async () => {
  const peer = await serve((socket) => socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
  const client = makeClient();
  for (const method of ["GET", "DELETE", "PUT"] as const) {
    const stop = new AbortController().signal;
    const answer = await ask(client, {
      method,
      url: peer.url,
      headers: {},
      body: [Buffer.from("x")],
      stop,
    });
    expect(answer.status).toBe(204);
    await untilReady();
  }
  const { host } = new URL(peer.url);
  expect(peer.requests).toEqual([
    `GET /v1/x?y=z HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
    `DELETE /v1/x?y=z HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
    `PUT /v1/x?y=z HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 1\r\n\r\nx`,
  ]);
  expect(peer.connections).toBe(1);
});

test("a GET that meets a connection closed as idle is repeated on a new one, a DELETE is not", async () => {
  const peer = await serve((socket, _request, count) =>
    count % 2 === 1 ? socket.write(whole("hello")) : socket.destroy(),
  );
  const client = makeClient();
  const stop = new AbortController().signal;
  const send = (method: "GET" | "DELETE") =>
    ask(client, { method, url: peer.url, headers: {}, body: [], stop });
  await (await send("GET")).bytes();
  await untilReady();
  expect(text(await (await send("GET")).bytes())).toBe("hello");
  expect([peer.requests.length, peer.connections]).toEqual([3, 2]);
  await untilReady();
  expect((await failure(send("DELETE"))).reason).toBe("stale");
  expect(peer.requests.length).toBe(4);
});

test("a connection is used again, one request at a time", async () => {
  const peer = await serve((socket, _request, count) =>
    setTimeout(() => socket.write(whole(String(count))), 5),
  );
  const client = makeClient();
  for (let n = 0; n < 3; n++) {
    await (await post(client, peer.url)).bytes();
    await untilReady();
  }
  expect(peer.connections).toBe(1);
  await Promise.all(Array.from({ length: 20 }, async () => (await post(client, peer.url)).bytes()));
  expect(peer.connections).toBe(20);
  await untilReady();
  await Promise.all(Array.from({ length: 20 }, async () => (await post(client, peer.url)).bytes()));
  expect(peer.connections).toBe(20);
});

test("a large body goes out whole while the other side reads slowly", async () => {
  const peer = await serve((socket, request) => socket.write(whole(String(request.length))));
  const body = "x".repeat(5_000_000);
  const answer = await post(makeClient(), peer.url, body);
  expect(Number(text(await answer.bytes()))).toBeGreaterThan(body.length);
});

test("informational answers are skipped, and the pieces of a chunked body are joined", async () => {
  const peer = await serve((socket) => {
    socket.write("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-enc");
    setTimeout(() => socket.write("oding: chunked\r\n\r\n5\r\nhel"), 10);
    setTimeout(() => socket.write("lo\r\n1\r\n!\r\n0\r\n\r\n"), 20);
  });
  const client = makeClient();
  expect(text(await (await post(client, peer.url)).bytes())).toBe("hello!");
  await untilReady();
  expect(text(await (await post(client, peer.url)).bytes())).toBe("hello!");
  expect(peer.connections).toBe(1);
});

test("a body without a length ends with the connection", async () => {
  const peer = await serve((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it"));
  expect(text(await (await post(makeClient(), peer.url)).bytes())).toBe("all of it");
});

test("what nobody asked to be packed is unpacked as it is read", async () => {
  const packed = gzipSync("x".repeat(1_000_000)).toString("latin1");
  const peer = await serve((socket) =>
    socket.write(Buffer.from(whole(packed, "content-encoding: gzip\r\n"), "latin1")),
  );
  const answer = await post(makeClient(), peer.url);
  expect((await answer.bytes()).length).toBe(1_000_000);
});

describe("an answer that breaks off is an error", () => {
  const cases: [string, string][] = [
    ["in its head", "HTTP/1.1 200 OK\r\nconte"],
    ["in a body of known length", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"],
    ["in a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel"],
    ["before the last chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"],
    ["before anything", ""],
  ];
  for (const ending of ["end", "resetAndDestroy"] as const)
    for (const [name, wire] of cases)
      test(`${name}, ${ending}`, async () => {
        const peer = await serve((socket) => {
          if (wire !== "") socket.write(wire);
          setTimeout(() => socket[ending](), 10);
        });
        const error = await failure(post(makeClient(), peer.url).then((answer) => answer.bytes()));
        expect(error.code).toBe("ECONNRESET");
        expect(error.sent).toBe(true);
      });
});

test("what is no HTTP is refused, and so is its connection", async () => {
  const peer = await serve((socket) => socket.write("SSH-2.0-OpenSSH\r\n\r\n"));
  const error = await failure(post(makeClient(), peer.url));
  expect(error.code).toBe("EPROTO");
  await eventually(() => peer.open.size === 0);
});

test("bytes behind an answer are never the next one's", async () => {
  const peer = await serve((socket, _request, count) =>
    socket.write(count === 1 ? whole("one") + whole("forged") : whole("two")),
  );
  const client = makeClient();
  expect(text(await (await post(client, peer.url)).bytes())).toBe("one");
  expect(text(await (await post(client, peer.url)).bytes())).toBe("two");
  expect(peer.connections).toBe(2);
});

test("bytes on an idle connection close it", async () => {
  const peer = await serve((socket, _request, count) => {
    socket.write(whole(String(count)));
    if (count === 1) setTimeout(() => socket.write(whole("forged")), 20);
  });
  const client = makeClient();
  await (await post(client, peer.url)).bytes();
  await eventually(() => client.size === 0);
  expect(text(await (await post(client, peer.url)).bytes())).toBe("2");
});

test("an answer that comes before the request is written is read, and the connection is not kept", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.write(whole("too large")));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/`;
  const client = makeClient();
  const answer = await post(client, url, "x".repeat(50_000_000));
  expect(text(await answer.bytes())).toBe("too large");
  await eventually(() => client.size === 0);
});

describe("aborting closes the connection", () => {
  test("before the head", async () => {
    const peer = await serve(() => {});
    const controller = new AbortController();
    const pending = post(makeClient(), peer.url, "{}", controller.signal);
    await eventually(() => peer.requests.length === 1);
    controller.abort(new Error("left"));
    await expect(pending).rejects.toThrow("left");
    await eventually(() => peer.open.size === 0);
  });

  test("inside the body", async () => {
    const peer = await serve((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"));
    const controller = new AbortController();
    const reader = (await post(makeClient(), peer.url, "{}", controller.signal)).body!.getReader();
    expect(text((await reader.read()).value!)).toBe("hello");
    const pending = reader.read();
    controller.abort(new Error("left"));
    await expect(pending).rejects.toThrow("left");
    await eventually(() => peer.open.size === 0);
  });

  test("by cancelling the reader", async () => {
    const peer = await serve((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"));
    const reader = (await post(makeClient(), peer.url)).body!.getReader();
    await reader.read();
    const pending = reader.read();
    await reader.cancel();
    expect((await pending).done).toBe(true);
    await eventually(() => peer.open.size === 0);
  });

  test("while it is being made: the connection is closed", async () => {
    const peer = await serve((socket) => socket.write(whole("x")));
    const client = makeClient();
    const controller = new AbortController();
    const pending = post(client, peer.url, "{}", controller.signal);
    controller.abort(new Error("left"));
    await expect(pending).rejects.toThrow("left");
    expect(client.size).toBe(0);
    await eventually(() => peer.open.size === 0);
    expect(peer.requests).toEqual([]);
  });
});

test("a kept connection that was closed meanwhile is not used; one that closes in that moment is told apart", async () => {
  const peer = await serve((socket, _request, count) => {
    if (count === 2) return void socket.destroy();
    socket.write(whole(String(count)));
  });
  const client = makeClient();
  await (await post(client, peer.url)).bytes();
  await untilReady();
  const error = await failure(post(client, peer.url));
  expect([error.reason, error.phase, error.sent]).toEqual(["stale", "sent", true]);
  await (await post(client, peer.url)).bytes();
  for (const socket of peer.open) socket.end();
  await eventually(() => client.size === 0);
  expect(text(await (await post(client, peer.url)).bytes())).toBe("4");
});

test("where one kept connection was closed unseen, the others are not used either", async () => {
  let closing = false;
  const peer = await serve((socket) => (closing ? void socket.destroy() : socket.write(whole("x"))));
  const client = makeClient();
  await Promise.all(Array.from({ length: 8 }, async () => (await post(client, peer.url)).bytes()));
  expect(client.size).toBe(8);
  await untilReady();
  closing = true;
  expect((await failure(post(client, peer.url))).reason).toBe("stale");
  expect(client.size).toBe(0);
});

test("what the other side says about idle connections is believed", async () => {
  const peer = await serve((socket) => socket.write(whole("x", "keep-alive: timeout=1\r\n")));
  const client = makeClient();
  await (await post(client, peer.url)).bytes();
  await (await post(client, peer.url)).bytes();
  expect(peer.connections).toBe(2);
});

test("idle connections are given up after their time", async () => {
  const peer = await serve((socket) => socket.write(whole("x")));
  const client = makeClient({ idleMs: 50 });
  await (await post(client, peer.url)).bytes();
  expect(client.size).toBe(1);
  await eventually(() => client.size === 0 && peer.open.size === 0);
});

test("a body nobody reads is not read from the socket either", async () => {
  let written = 0;
  const peer = await serve((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const piece = Buffer.alloc(64 * 1024, 120);
    const write = () => {
      while (!socket.destroyed && written < 200_000_000) {
        written += piece.length;
        if (!socket.write(piece)) return void socket.once("drain", write);
      }
    };
    write();
  });
  const answer = await post(makeClient(), peer.url);
  await Bun.sleep(300);
  const held = written;
  await Bun.sleep(300);
  expect(written).toBe(held);
  expect(written).toBeLessThan(20_000_000);
  const reader = answer.body!.getReader();
  for (let read = 0; read < held + 1_000_000;) read += (await reader.read()).value!.length;
  expect(written).toBeGreaterThan(held);
  await reader.cancel();
});

test("a connection that is not made in time is given up; nothing was sent", async () => {
  // It accepts, and never says a word of TLS.
  const peer = await serve(() => {});
  const { port } = new URL(peer.url);
  const client = makeClient();
  const stop = new AbortController().signal;
  const request = { url: `https://127.0.0.1:${port}/`, headers: {}, body: [], stop, connectMs: 100 };
  const error = await failure(client.request(request));
  expect([error.code, error.phase, error.sent]).toEqual(["ETIMEDOUT", "tls", false]);
  await eventually(() => client.size === 0);
});

test("what cannot be reached was not sent", async () => {
  const refused = await failure(post(makeClient(), "http://127.0.0.1:1/"));
  expect([refused.code, refused.phase, refused.sent]).toEqual(["ECONNREFUSED", "connect", false]);
  const unknown = await failure(post(makeClient(), "http://no-such-host.invalid/"));
  expect([unknown.code, unknown.phase, unknown.sent]).toEqual(["ENOTFOUND", "dns", false]);
});

test("a header that would end its line is refused, and so are other schemes", () => {
  const client = makeClient();
  const stop = new AbortController().signal;
  for (const value of ["a\r\nb: c", "a\nb", "\0", "ü€"])
    expect(() =>
      client.request({ url: "http://127.0.0.1:1/", headers: { x: value }, body: [], stop }),
    ).toThrow();
  for (const url of ["file:///etc/hostname", "data:,x", "s3://a/b"])
    expect(() => client.request({ url, headers: {}, body: [], stop })).toThrow();
});
