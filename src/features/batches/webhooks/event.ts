/** The end of a batch as an event of OpenAI's webhooks. */
import { isEnd, type Batch, type State } from "../batch.ts";
import { batchIdFor } from "../shapes/ids.ts";

const TYPES: Readonly<Partial<Record<State, string>>> = {
  done: "batch.completed",
  refused: "batch.failed",
  stopped: "batch.cancelled",
  late: "batch.expired",
};

/** A row of `batches_events`: the end of a batch that its receiver does not know yet. */
export interface EndEvent {
  /** Of the batch, without a prefix. */
  readonly id: string;
  /** `batch.completed`. */
  readonly type: string;
  /** When the batch ended. Milliseconds since 1970. */
  readonly ended: number;
  /** Requests that have begun. */
  readonly tries: number;
  /** When the next request begins. Milliseconds since 1970. */
  readonly due: number;
}

/** The event of a batch; undefined while it has not ended. */
export function endOf({ id, state, endedAt }: Batch): EndEvent | undefined {
  if (!isEnd(state) || endedAt === undefined) return undefined;
  return { id, type: TYPES[state]!, ended: endedAt, tries: 0, due: endedAt };
}

/** The id of an event, which is the same in each request: a batch ends once. */
export function eventId({ id }: Pick<EndEvent, "id">): string {
  return `evt_${id}`;
}

/** @returns the body of the request, JSON */
export function eventBody(event: EndEvent): string {
  const { id, type, ended } = event;
  return JSON.stringify({
    ...{ id: eventId(event), object: "event", created_at: Math.floor(ended / 1000), type },
    data: { id: batchIdFor("openai", id) },
  });
}
