/** Tools that a vendor runs itself, for providers that have no such tools. */
import type { Tool } from "../../core/chat.ts";
import { invalidRequest } from "../../core/error.ts";

/**
 * weir leaves hosted tools out beside other tools, and refuses the request if they are all that the model could use.
 * @param typeOf the vendor's name of a kind of tools @param forced the tool that the client demands, if it is hosted
 * @param isEssential whether a request with a tool of that type makes no sense elsewhere
 * @throws GatewayError `invalid-request`, code `unsupported_tool`
 */
export function refuseHosted(
  tools: readonly Tool[],
  typeOf: (tool: Tool) => string,
  forced: Tool | undefined,
  isEssential: (type: string) => boolean,
): void {
  const hosted = tools.filter(({ kind }) => kind === "foreign");
  const refused =
    hosted.find((tool) => isEssential(typeOf(tool))) ??
    forced ??
    (hosted.length === tools.length ? hosted[0] : undefined);
  if (refused)
    throw invalidRequest(
      `${refused.path}: the provider has no tool of type ${typeOf(refused).slice(0, 64)}; remove it or choose another model.`,
      refused.path,
      "unsupported_tool",
    );
}
