/** Globs over names: `*` stands for any text, also for none and for slashes. */

/** Without allocation: it runs for calls. */
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

/** Whether all names that `inner` matches are also matched by `outer`: a `*` of `inner` can only be matched by a `*`. */
export function globContains(outer: string, inner: string): boolean {
  return globMatches(outer, inner);
}
