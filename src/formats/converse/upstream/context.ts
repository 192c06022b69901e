/** The id of the format, and the context that every part of the encoder gets. */
import type { ToolNames } from "../../../core/ids.ts";
import type { EncodeContext as BaseContext } from "../../shared/encode-context.ts";
import type { ModelFacts } from "../models.ts";

/** The id of the format. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "converse";

/** Context of encoding a request. */
export interface EncodeContext extends BaseContext {
  facts: ModelFacts;
  names: ToolNames;
  documents: DocumentNames;
}

/**
 * Names of the documents of a request. The provider wants each to be unique, of letters, digits, single spaces, hyphens and
 * brackets; a name from the client could be an instruction to the model.
 */
export class DocumentNames {
  #count = 0;

  next(): string {
    return `Document ${++this.#count}`;
  }
}
