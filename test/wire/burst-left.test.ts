/** Clients that leave while their requests of a burst still wait for their turn: each call has its line in the log. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { chatHost, startGateway } from "../helpers/gateway.ts";
import { stalled, startUpstream, until } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const CALLS = 200;

test("a burst of requests whose clients have left has a line for each of them", async () => {
  const upstream = startUpstream(() => stalled([]));
  const gateway = await startGateway({ config: { ...chatHost(upstream.url), log: { format: "json" } } });
  const body = JSON.stringify({ model: "host/some-model", messages: [{ role: "user", content: "hi" }] });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  try {
    const sockets = await Promise.all(
      Array.from({ length: CALLS }, () => {
        const { promise, resolve } = Promise.withResolvers<ReturnType<typeof connect>>();
        const socket = connect(gateway.port, "127.0.0.1", () => resolve(socket));
        socket.on("error", () => {});
        return promise;
      }),
    );
    for (const socket of sockets) socket.end(head + body, () => socket.destroy());
    const lines = () => gateway.log.filter((line) => line.includes('"outcome":"cancelled"')).length;
    await until(
      () => lines() >= CALLS,
      10_000,
      () => `${lines()} of ${CALLS} calls have a line`,
    );
    expect(lines()).toBe(CALLS);
  } finally {
    await gateway.stop();
    upstream.stop();
  }
});
