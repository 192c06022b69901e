/** Batches in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../operator/contract.ts";
import { answer, nano, PAGE, pageOf, PATH, request, time, words } from "../../operator/shapes.ts";
import { NEXT, type State } from "./batch.ts";

/** The states in the order in which most batches have them. */
export const STATES = Object.keys(NEXT) as readonly State[];

const STATE = words(
  STATES,
  "`paused`: `reason` says what holds it. `done`, `refused`, `stopped` (cancelled) and `late`: it has ended.",
);
const lines = (description: string) => Type.Integer({ minimum: 0, description });
const FILE = Type.String({ description: "Id of a file, without the prefix of a vendor." });

const BATCH = {
  id: Type.String({ description: "Without the prefix of a vendor." }),
  path: { ...PATH, description: "The path that pays." },
  key: Type.Optional(Type.String({ description: "Id of the key that made it." })),
  keyName: Type.Optional(Type.String()),
  person: Type.Optional(Type.String({ description: "Id of the person who made it." })),
  name: Type.Optional(Type.String({ description: "For people." })),
  endpoint: Type.String({ description: "The path that each line asks: `/v1/chat/completions`." }),
  model: Type.Optional(Type.String({ description: "Absent if the lines name several." })),
  how: words(["run", "native"], "`run`: weir makes a call of each line."),
  state: STATE,
  reason: Type.Optional(Type.String({ description: "Why it is paused or refused." })),
  lines: lines("All lines; 0 while the input is checked."),
  done: lines("Lines that succeeded."),
  failed: lines("Lines with an error."),
  cancelled: lines("Lines that a cancellation kept from a call."),
  late: lines("Lines whose time was over before their call."),
  cost: nano("What its lines have cost so far."),
  createdAt: time(""),
  startedAt: Type.Optional(time("When its input was checked.")),
  endedAt: Type.Optional(time("")),
  deadline: time("When lines that have not begun become late."),
};

export const ListedBatch = answer(BATCH, { description: "A batch of a client." });
export type ListedBatch = Static<typeof ListedBatch>;

export const BatchDetails = answer(
  {
    ...BATCH,
    held: nano("Part of budgets that its running lines hold."),
    usage: answer({
      input: Type.Integer({ description: "Tokens, those from caches included." }),
      cached: Type.Integer({ description: "Tokens that caches of providers held. Part of `input`." }),
      output: Type.Integer({ description: "Tokens, those of reasoning included." }),
      reasoning: Type.Integer({ description: "Part of `output`." }),
    }),
    faults: Type.Array(
      answer({
        code: Type.String(),
        line: Type.Optional(Type.Integer({ description: "From 1. Absent: the fault is that of the input." })),
        message: Type.String(),
        param: Type.Optional(Type.String({ description: "The member that is wrong." })),
      }),
      { description: "Why the input was refused, at most 100 faults." },
    ),
    inputFile: FILE,
    retries: Type.Optional(Type.String({ description: "Id of the batch whose failed lines it runs again." })),
    outputFile: Type.Optional(FILE),
    errorFile: Type.Optional(FILE),
    runner: Type.Optional(
      answer({
        node: Type.String({ description: "Id of the process that keeps its books." }),
        fence: Type.Integer({ description: "Number of the runner; each takeover adds one." }),
        until: time("When another node may take it over, unless the lease is renewed."),
      }),
    ),
  },
  { description: "A batch, with who runs it. Absent runner: no process has begun it." },
);
export type BatchDetails = Static<typeof BatchDetails>;

export const BatchPage = pageOf("batches", ListedBatch);
export type BatchPage = Static<typeof BatchPage>;

export const listBatches = contract({
  method: "GET",
  path: "/admin/v1/batches",
  id: "listBatches",
  summary: "The batches of clients, the newest first",
  needs: { role: "read", on: "path" },
  query: request({
    state: Type.Optional(STATE),
    path: Type.Optional({ ...PATH, description: "Batches of this path and below." }),
    key: Type.Optional(Type.String({ maxLength: 100, description: "Id or name of a key." })),
    ...PAGE,
  }),
  answer: { name: "BatchPage", schema: BatchPage },
  errors: ["not_found", "not_permitted"],
});

export const getBatch = contract({
  method: "GET",
  path: "/admin/v1/batches/{id}",
  id: "getBatch",
  summary: "A batch: lines, cost, faults of its input, and who runs it",
  needs: { role: "read", on: "path" },
  answer: { name: "BatchDetails", schema: BatchDetails },
  errors: ["not_found"],
});

export const cancelBatch = contract({
  method: "POST",
  path: "/admin/v1/batches/{id}/cancel",
  id: "cancelBatch",
  summary: "Cancels a batch: running lines end, no further line begins",
  description: "Results of lines that have ended are kept. Cancelling twice is no error.",
  needs: { role: "admin", on: "path" },
  answer: { name: "BatchDetails", schema: BatchDetails },
  errors: ["conflict", "not_found", "store_failed"],
});

export const retryBatch = contract({
  method: "POST",
  path: "/admin/v1/batches/{id}/retry",
  id: "retryBatch",
  summary: "Makes a new batch of the lines that failed of one that has ended",
  description:
    "Lines that were cancelled or late count as failed. The new batch has the owner, the endpoint and the time of the one before, and begins within seconds.",
  needs: { role: "admin", on: "path" },
  answer: { name: "BatchDetails", schema: BatchDetails },
  errors: ["conflict", "not_found", "store_failed"],
});
