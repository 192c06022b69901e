/** Observes interactions that weir passes on: id, usage, how they end. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamObserver, StreamSummary } from "../../../core/format.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { finishOf } from "./reader.ts";
import { decodeUsage } from "./usage.ts";

/** An interaction that goes on in the background, or has ended without an answer of its own. */
const WITHOUT_ANSWER = new Set(["in_progress", "queued", "failed", "cancelled"]);

export const watch: StreamObserver = {
  deltas: ["text", "arguments"],
  marks: ["interaction.created", "interaction.completed", '"error"'],
  frame({ data }: Frame, seen: StreamSummary): void {
    const event = parseJson(data);
    if (!isObject(event)) return;
    if (event.event_type === "error") seen.error ??= decodeErrorBody(event);
    if (!isObject(event.interaction)) return;
    observe(event.interaction, seen);
    if (event.event_type !== "interaction.completed") return;
    seen.complete = seen.finished = true;
    // `[DONE]` may follow.
    seen.terminated = true;
  },
  answer(body: JsonObject, seen: StreamSummary): void {
    if (body.error != null) {
      seen.error ??= decodeErrorBody(body);
      return;
    }
    observe(body, seen);
    seen.terminated = seen.complete = true;
  },
};

function observe(interaction: JsonObject, seen: StreamSummary): void {
  const { id, status, usage, service_tier: tier } = interaction;
  if (typeof id === "string" && id !== "") {
    seen.answerId = id;
    seen.isStored = true;
    seen.begun ??= { id, ...(typeof interaction.model === "string" && { model: interaction.model }) };
  }
  const isOver = typeof status === "string" && !WITHOUT_ANSWER.has(status);
  if (isOver) seen.finish = finishOf(interaction);
  const counted = decodeUsage(usage, tier);
  if (counted && status !== "in_progress" && status !== "queued")
    seen.usage = mergeUsage(seen.usage ?? NO_USAGE, counted);
}
