import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/core/error.ts";
import { Stop } from "../../src/core/stop.ts";

const reason = new GatewayError("cancelled", "The client left.");

describe("a stop", () => {
  test("tells those who listen, once, and not those who do no longer", () => {
    const stop = new Stop();
    const heard: string[] = [];
    const gone = () => void heard.push("gone");
    stop.addEventListener("abort", () => heard.push("function"));
    stop.addEventListener("abort", { handleEvent: () => void heard.push("object") });
    stop.addEventListener("abort", gone);
    stop.removeEventListener("abort", gone);
    expect(stop.aborted).toBe(false);
    stop.abort(reason);
    stop.abort(new GatewayError("timeout", "Too late."));
    expect([stop.aborted, stop.reason, heard]).toEqual([true, reason, ["function", "object"]]);
  });

  test("is a signal for who wants one, before and after", () => {
    const stop = new Stop();
    const { signal } = stop;
    expect([signal.aborted, stop.signal]).toEqual([false, signal]);
    stop.abort(reason);
    expect([signal.aborted, signal.reason]).toEqual([true, reason]);
    const late = new Stop();
    late.abort(reason);
    expect([late.signal.aborted, late.signal.reason]).toEqual([true, reason]);
  });
});
