/** Read access to headers, with lower-case names; a `Headers` object implements it. */
export interface HeaderReader {
  get(name: string): string | null;
  has(name: string): boolean;
  forEach(visit: (value: string, name: string) => void): void;
}
