/** Asks about an answer that is no stream. */
import type { AnswerText } from "../../../core/text-places.ts";
import { edited } from "../replace/edits.ts";
import type { Answering } from "./answer.ts";
import { Said } from "./said.ts";

interface Text {
  readonly of: AnswerText;
  text: string;
}

/** @throws GatewayError of a guard that blocks, or that has no verdict */
export async function askWhole(answering: Answering, texts: readonly Text[]): Promise<void> {
  const asked = texts
    .filter(({ of, text }) => text !== "" && answering.reads(of))
    .map((one) => ({ one, said: new Said(one.of, one.text) }));
  const error = await answering.ask(
    asked.map(({ said }) => said),
    true,
  );
  if (error) throw error;
  for (const { one, said } of asked) one.text = edited(one.text, said.edits(0, one.text.length));
}
