/** Globs over names: `*` stands for any text, also for none and for slashes. */

/** Whether a text matches a pattern in which `*` stands for any text. Linear in the text, without allocation: it runs for calls. */
export function globMatches(glob: string, name: string): boolean {
  let at = 0;
  let inName = 0;
  /** Where the last `*` is, and the first character of the name behind what it stands for. */
  let star = -1;
  let resume = 0;
  while (inName < name.length) {
    if (glob[at] === "*") {
      star = at++;
      resume = inName;
    } else if (at < glob.length && glob[at] === name[inName]) {
      at++;
      inName++;
    } else if (star >= 0) {
      at = star + 1;
      inName = ++resume;
    } else return false;
  }
  while (glob[at] === "*") at++;
  return at === glob.length;
}
