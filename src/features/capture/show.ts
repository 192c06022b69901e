/** `weir logs --call ID --body`: the bodies of a captured call. */
import { bookCommand } from "../../cli/books/command.ts";
import { textOf } from "../../cli/books/values.ts";
import { UsageError } from "../../cli/command.ts";
import { parseJson } from "../../core/json.ts";
import type { CapturedCall } from "./contracts.ts";

export const { run } = bookCommand({
  name: "logs",
  summary: "show the bodies of a captured call",
  async run({ api, flags, show }) {
    const id = textOf(flags, "--call");
    if (id === undefined) throw new UsageError("--body needs the id of a call: --call ID");
    const call = await api.send<CapturedCall>("GET", `/calls/${encodeURIComponent(id)}/body`);
    show(call, () => describe(call));
  },
});

/** The text of one line of JSON is indented. */
function describe({ request, answer, cut = [], error }: CapturedCall): string {
  const part = (name: "request" | "answer", text: string) =>
    `${name}${cut.includes(name) ? " (only its beginning is kept)" : ""}\n${indented(text)}`;
  return [part("request", request), part("answer", answer), ...(error ? [`failed: ${error}`] : [])].join(
    "\n\n",
  );
}

function indented(text: string): string {
  const json = parseJson(text);
  return json === undefined ? text.trimEnd() : JSON.stringify(json, null, 2);
}
