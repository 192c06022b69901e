/** Names of models as Google's lists and clients write them: with the path that leads to the model. */

/** The bare name: `models/gemini-2.5-pro` and `publishers/google/models/gemini-2.5-pro` become `gemini-2.5-pro`. */
export function bareModelName(name: string): string {
  return name.replace(/^(?:publishers\/google\/models|models|google)\//, "");
}
