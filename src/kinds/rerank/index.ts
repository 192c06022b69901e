/** Ranking of documents by how well they fit a query. */
import type { ModelKind } from "../../core/model-kind.ts";
import type { RerankAnswer, RerankRequest } from "../../core/rerank.ts";
import { completeRerank } from "./complete.ts";
import { rerankDialects } from "./dialects.ts";
import { rerankRoutes } from "./routes.ts";
import { scoreRoute } from "./score.ts";
import { sizeByTokens } from "./size.ts";

export const rerank: ModelKind<RerankRequest, RerankAnswer> = {
  id: "rerank",
  lacks: "does not rerank documents",
  mock: "rerank",
  gives: [],
  routes: [...rerankRoutes, scoreRoute],
  dialects: rerankDialects,
  sizeOf: sizeByTokens,
  complete: completeRerank,
};
