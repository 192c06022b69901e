/** Texts that no tape contains: credentials, and those that the operator names. */
import type { Mask } from "./meaning.ts";

const MASKED = "***";

/** Credentials of vendors, of code hosts and of weir. Longer than the words of prose and code that begin in the same way. */
const CREDENTIALS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|csk|xai|pplx|hf|fw|r8|weir_(?:sk|ad|ro)|gh[opsu]|github_pat|glpat|npm|xox[abposr])[-_][\w-]{16,}/g,
  /\bA[KS]IA[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\bya29\.[\w-]{20,}/g,
  /\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+/g,
  /\b(?:Bearer|Basic) [\w.~+/=-]{20,}/g,
  // Parameters and passwords of URLs.
  /(?<=[?&](?:key|token|sig|signature|code|api[-_]?key|access[-_]token|x-amz-(?:signature|security-token|credential))=)[\w%.~+/=-]{8,}/gi,
  /(?<=\w:\/\/[^\s/:@"]{0,64}:)[^\s/:@"]{3,}(?=@)/g,
  // Assignments in environment files; a value without a digit is a placeholder.
  /(?<=\b[A-Z][A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|KEY)=["']?)(?=[^\s"'\\]*\d)[\w.+/=-]{12,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,8192}?-----END [A-Z ]*PRIVATE KEY-----/g,
];

/**
 * @param hide masks the credentials of the configured providers
 * @param patterns of the operator: what else is private, or differs with each run
 */
export function createMask(hide: Mask, patterns: readonly RegExp[] = []): Mask {
  const all = [...patterns, ...CREDENTIALS];
  return (text) => all.reduce((left, pattern) => left.replace(pattern, MASKED), hide(text));
}
