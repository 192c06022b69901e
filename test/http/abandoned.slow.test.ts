/** A connection that is given up while it connects is closed, however far the handshake has come. */
import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { HttpClient } from "../../src/http/client.ts";
import { HttpError } from "../../src/http/error.ts";
import { type HangingPeer, STAGES, startHangingPeer } from "../helpers/hanging-peer.ts";

const CALLS = 100;

let peer: HangingPeer | undefined;
let client: HttpClient | undefined;

afterEach(() => {
  client?.close();
  peer?.stop();
});

const descriptors = () => readdirSync("/dev/fd").length;

/** Waits until no more descriptors are open than before, but for two of the runtime's own. */
async function settled(before: number): Promise<number> {
  for (let tries = 0; tries < 400 && descriptors() > before + 2; tries++) await Bun.sleep(50);
  return descriptors();
}

function ask(stop: AbortSignal, connectMs?: number): Promise<unknown> {
  const url = `https://127.0.0.1:${peer!.port}/`;
  return client!.request({ url, headers: {}, body: [], stop, connectMs }).catch((reason: unknown) => reason);
}

describe.each(STAGES)("while the handshake hangs at %s", (stage) => {
  test("clients that leave leave no descriptors behind", async () => {
    peer = await startHangingPeer(stage);
    client = new HttpClient();
    const before = descriptors();
    const controller = new AbortController();
    const calls = Array.from({ length: CALLS }, () => ask(controller.signal));
    // Other tests of this process may close descriptors of theirs meanwhile, hence half.
    for (let tries = 0; tries < 400 && descriptors() < before + CALLS / 2; tries++) await Bun.sleep(50);
    expect(descriptors()).toBeGreaterThanOrEqual(before + CALLS / 2);
    controller.abort(new Error("left"));
    await Promise.all(calls);
    expect(client.size).toBe(0);
    expect(await settled(before)).toBeLessThanOrEqual(before + 2);
  }, 600_000);

  test("connects that take too long leave no descriptors behind, and say how far they came", async () => {
    peer = await startHangingPeer(stage);
    client = new HttpClient();
    const before = descriptors();
    const { signal } = new AbortController();
    const errors = await Promise.all(Array.from({ length: CALLS }, () => ask(signal, 400)));
    for (const error of errors) {
      expect(error).toBeInstanceOf(HttpError);
      const { reason, phase, sent } = error as HttpError;
      expect([reason, phase, sent]).toEqual(["connect-timeout", stage === "syn" ? "connect" : "tls", false]);
    }
    expect(client.size).toBe(0);
    expect(await settled(before)).toBeLessThanOrEqual(before + 2);
  }, 600_000);
});
