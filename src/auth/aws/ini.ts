/** Reads the INI files of the AWS tools: `~/.aws/credentials` and `~/.aws/config`. */

/** The settings of each section, with names in lower case. */
export type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Sections of one name are joined. Indented lines belong to a nested setting, which weir does not need. */
export function parseIni(text: string): Sections {
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      const name = header.replace(/\s+/g, " ").replaceAll('"', "");
      section = sections.get(name) ?? new Map<string, string>();
      sections.set(name, section);
      continue;
    }
    const pair = /^([^\s#;=][^=]*?)\s*=\s*(.*)$/.exec(line);
    if (pair) section?.set(pair[1]!.toLowerCase(), pair[2]!.replace(/(?:^|\s+)[#;].*$/, "").trim());
  }
  return sections;
}
