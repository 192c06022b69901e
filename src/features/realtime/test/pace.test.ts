/** Neither side of a session is buffered without bound: a client that reads nothing, a vendor that reads nothing. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { startVendor } from "./support/vendor.ts";

setDefaultTimeout(60_000);

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0).toReversed()) await started.stop();
});

/** A client that has opened a session and reads nothing. */
async function deafClient({ port }: RunningGateway): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  running.push({ stop: () => socket.destroy() });
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(
    [
      "GET /v1/realtime?model=gpt-realtime HTTP/1.1",
      `host: 127.0.0.1:${port}`,
      ...["upgrade: websocket", "connection: Upgrade", "sec-websocket-version: 13"],
      ...["sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==", "", ""],
    ].join("\r\n"),
  );
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  return socket;
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !holds(); waited += 10) {
    if (waited > 30_000) throw new Error(`waited in vain: ${what}`);
    await Bun.sleep(10);
  }
}

test("a vendor is read no faster than its client reads, and nothing is lost", async () => {
  const vendor = startVendor();
  const gateway = await startGateway({
    config: { providers: { openai: { baseUrl: `${vendor.url}/v1`, apiKey: "k" } } },
    target: "source",
  });
  running.push(vendor, gateway);
  const client = await deafClient(gateway);
  await until(() => vendor.sessions.length === 1, "the vendor's session");
  const frame = JSON.stringify({ type: "response.output_audio.delta", delta: "A".repeat(256 * 1024) });
  const count = 200;
  for (let at = 0; at < count; at++) vendor.sessions[0]!.send(frame);
  // What the systems of both ends hold, weir's own mebibyte, and a frame: the rest stays with the vendor.
  await Bun.sleep(500);
  const held = vendor.sessions[0]!.waiting();
  expect(held).toBeGreaterThan((count * frame.length) / 2);
  let got = 0;
  client.on("data", (bytes: Buffer) => (got += bytes.length));
  client.resume();
  await until(() => got >= count * frame.length, "all of it");
  expect(vendor.sessions[0]!.waiting()).toBe(0);
});
