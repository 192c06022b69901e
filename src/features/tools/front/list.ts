/** `GET /v1/tools`: what the caller may use, for people and commands. */
import { ENDPOINT, resourceOf } from "../auth/resources.ts";
import type { OwnRoute } from "../../../gateway/seams.ts";
import type { Bench } from "../bench.ts";
import { priceOf, tokensOf } from "../operator/tokens.ts";
import type { ToolsConfig } from "../section.ts";
import { fullName } from "../bridge/names.ts";
import { failure } from "./endpoint.ts";

export const listTools =
  (bench: Pick<Bench, "list">, { prices }: ToolsConfig): OwnRoute["handle"] =>
  async (_, visit) => {
    try {
      const { tools, unavailable } = await bench.list(await visit.caller(ENDPOINT, resourceOf()));
      const data = tools.map((tool) => {
        const { server, tool: own, ...definition } = tool;
        const price = priceOf(prices, fullName(server, own));
        return { server, tool: own, ...definition, tokens: tokensOf({ ...definition }), price };
      });
      return Response.json({ object: "list", data, ...(unavailable.length > 0 && { unavailable }) });
    } catch (thrown) {
      return failure(thrown);
    }
  };
