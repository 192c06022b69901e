/** Reads the events of OpenAI's streams of images. Base64 has been cut out of them. */
import { GatewayError } from "../../core/error.ts";
import { NO_USAGE } from "../../core/events.ts";
import type { Frame } from "../../core/frame.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { StreamObserver, StreamSummary } from "../../core/stream-observer.ts";
import { unitsOf, tokensOf } from "./usage.ts";

const COMPLETED = /^image_(?:generation|edit)\.completed$/;

export const watch: StreamObserver = {
  // Every event is read.
  marks: [],
  answer() {},
  frame({ event, data }: Frame, seen: StreamSummary): void {
    const body = parseJson(data);
    if (!isObject(body)) return;
    const type = typeof body["type"] === "string" ? body["type"] : event;
    const error = body["error"];
    if (type === "error" || isObject(error)) {
      const said = isObject(error) ? error : body;
      const { message, code } = said;
      seen.error = new GatewayError(
        "upstream",
        typeof message === "string" ? message : "The provider reported an error in its stream.",
        typeof code === "string" ? { code } : {},
      );
      return;
    }
    if (type === undefined || !COMPLETED.test(type)) return;
    seen.terminated = true;
    seen.complete = true;
    const tokens = tokensOf(body);
    const { size, quality } = body;
    const units = unitsOf(1, ...[size, quality].map((one) => (typeof one === "string" ? one : undefined)));
    seen.usage = { ...NO_USAGE, ...tokens, units, known: tokens ? "final" : "partial" };
  },
};
