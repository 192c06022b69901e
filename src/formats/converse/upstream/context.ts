/** What every part of the encoder gets. */
import type { ToolNames } from "../../../core/ids.ts";
import type { EncodeContext as BaseContext } from "../../shared/encode-context.ts";
import type { ModelFacts } from "../models.ts";
import type { DocumentNames } from "./document-names.ts";

/** What encoding a request depends on besides the request. */
export interface EncodeContext extends BaseContext {
  facts: ModelFacts;
  names: ToolNames;
  documents: DocumentNames;
}
