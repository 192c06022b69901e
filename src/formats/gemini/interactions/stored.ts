/** How clients continue interactions: by `previous_interaction_id`. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { Frame } from "../../../core/frame.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { StoredItem } from "../../../core/stored-answer.ts";
import type { AnswerFollower, StoredCodec } from "../../../core/stored-codec.ts";
import { list } from "../../shared/read.ts";
import { isOwnId } from "./answer.ts";
import { stepsOf } from "./steps.ts";

export const stored: StoredCodec = {
  members: { previous: "previous_interaction_id", store: "store" },
  // No request names single steps.
  referenceMark: "previous_interaction_id",
  isOwnId,
  paths: { cancel: "cancel" },
  ignoredParameters: ["key"],
  ask: ({ previous_interaction_id: previous, store }) => ({
    ...(typeof previous === "string" && { previous }),
    ...{ references: [], partial: [] },
    ...(typeof store === "boolean" && { store }),
  }),
  expand: (body, { before }) => ({ ...body, input: [...before, ...stepsOf(body.input)] }),
  detached: ({ previous_interaction_id: _, ...body }, storesThere) => ({
    ...body,
    ...(!storesThere && { store: false }),
  }),
  inputItems: (body, answerId) => numbered(stepsOf(body.input), `${answerId}-in`),
  split({ steps, ...body }) {
    const { id, status } = body;
    if (typeof id !== "string" || typeof status !== "string" || !ENDED.has(status)) return undefined;
    return { id, status, body, output: numbered(list(steps).filter(isObject), `${id}-out`) };
  },
  join: ({ body, output }) => ({ ...body, steps: output.map(({ value }) => value) }),
  // An interaction does not say whether it is stored.
  withStored: (answer) => answer,
  itemIds: () => [],
  follow: () => new Follower(),
  listItems: (items) => ({ steps: items.map(({ value }) => value) }),
  deleted: () => ({}),
  unknownAnswer: (id) =>
    new GatewayError("not-found", `Interaction '${id}' not found.`, { code: "response_not_found" }),
  unknownPrevious: (id, hint) =>
    invalidRequest(
      `Previous interaction '${id.slice(0, 200)}' not found.${hint === undefined ? "" : ` ${hint}`}`,
      "previous_interaction_id",
      "previous_response_not_found",
    ),
  unknownItem: (id) =>
    new GatewayError("not-found", `Step '${id.slice(0, 200)}' not found.`, { param: "input" }),
};

const ENDED = new Set(["completed", "requires_action", "incomplete"]);

function numbered(steps: readonly JsonObject[], prefix: string): StoredItem[] {
  return steps.map((value, index) => ({ id: `${prefix}-${index}`, value }));
}

class Follower implements AnswerFollower {
  readonly marks = ["interaction.completed"];

  read({ data }: Frame): JsonObject | undefined {
    const event = parseJson(data);
    return isObject(event) && isObject(event.interaction) ? event.interaction : undefined;
  }

  withStored(): undefined {
    return undefined;
  }
}
