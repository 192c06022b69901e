/** Every fault to plant. */
import { CONVERSE_MUTATIONS } from "./converse-mutations.ts";
import { EMBEDDING_MUTATIONS } from "./embedding-mutations.ts";
import { GEMINI_CLIENT_MUTATIONS } from "./gemini-client-mutations.ts";
import { GEMINI_MUTATIONS } from "./gemini-mutations.ts";
import { INVOKE_MUTATIONS } from "./invoke-mutations.ts";
import { MUTATIONS, type Mutation } from "./mutations.ts";
import { RESPONSES_MUTATIONS } from "./responses-mutations.ts";

export const ALL_MUTATIONS: readonly Mutation[] = [
  ...MUTATIONS,
  ...RESPONSES_MUTATIONS,
  ...GEMINI_MUTATIONS,
  ...GEMINI_CLIENT_MUTATIONS,
  ...CONVERSE_MUTATIONS,
  ...INVOKE_MUTATIONS,
  ...EMBEDDING_MUTATIONS,
];
