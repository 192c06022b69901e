/** Operations on guards, for operators. */
import { answers, type OwnOperations } from "../../admin/operation.ts";
import { AdminError } from "../../operator/errors.ts";
import type { Phase, Verdict } from "./declarations.ts";
import { listGuards, tryGuards } from "./watch/contracts.ts";
import { readVerdicts } from "./watch/rows.ts";
import { guardsPart } from "./watch/slots.ts";

const DAY_MS = 86_400_000;

const operations = [
  answers(listGuards, async ({ books, now, query: { from = now - DAY_MS, to = now } }) => {
    const { hours, unread, blocked } = await books.read((sql) => readVerdicts(sql, from, to));
    const guards = guardsPart
      .get(books.offers)
      ?.guards()
      ?.map(({ name, does, finds, keys, models, unless }) => ({
        ...{ name, does, finds: [...finds] },
        narrowed: (keys ?? models ?? unless) !== undefined,
      }));
    return {
      json: {
        ...(guards && { guards }),
        hours: hours.map((row) => ({ ...row, phase: row.phase as Phase, verdict: row.verdict as Verdict })),
        unread,
        blocked: blocked.map((row) => ({ ...row, phase: row.phase as Phase })),
      },
    };
  }),
  answers(tryGuards, async ({ books, body: { text } }) => {
    const tried = await guardsPart.get(books.offers)?.tryText(text);
    if (!tried) throw new AdminError(503, "gateway_failed", "No worker of the gateway tries the text.");
    return { json: tried };
  }),
];

export const admin: OwnOperations = { after: ["listAlerts", "reloadConfig", "listCalls"], operations };
