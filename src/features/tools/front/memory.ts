/** What the process of the tools keeps of conversations. */
import { GatewayError } from "../../../core/error.ts";
import type { Memory } from "../loop/memory.ts";
import { type AskTools, valueOf } from "./process.ts";

export function memoryOf(ask: AskTools): Memory {
  return {
    async keep(owner, calls, text) {
      await valueOf(ask({ kind: "keep", owner, calls, text }));
    },
    async find(owner, calls) {
      const found = await valueOf(ask({ kind: "find", owner, calls })).catch(unreachable);
      return found as (string | null)[];
    },
  };
}

/** Without what its tools did, a model would call them again. */
function unreachable(): never {
  throw new GatewayError("upstream", "What the tools did before cannot be read: their process is away.", {
    code: "tools_unavailable",
  });
}
