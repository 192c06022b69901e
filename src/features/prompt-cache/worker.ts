/** Notes the sections of prompts for their records, while the providers work on them. */
import { withoutCredentials } from "../../core/client-headers.ts";
import type { Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";

/** Providers cache no shorter prompt: 1,024 tokens. Bytes. */
const LEAST_CACHED = 4096;

export const start = (host: WorkerHost): WorkerPart => ({ seams: () => seamsOf(host) });

/** Without books nothing keeps what is noted. */
function seamsOf({ ledger }: WorkerHost): Seams | undefined {
  if (!ledger.notePrompt) return undefined;
  return {
    sent(running, { call, format, bytes, spanOf, stored }) {
      // A request that continues a stored answer holds only the end of its prompt.
      if (bytes.length < LEAST_CACHED || stored?.added.length) return;
      const { facts } = format.client;
      const view = () => ({ headers: withoutCredentials(call.headers), bytes, spanOf });
      ledger.notePrompt?.(running, {
        affinity: () => facts.sessionOf?.(view()) ?? "",
        sections: () => facts.promptSections?.(view()),
      });
    },
  };
}
