/** What a part of weir warns of: something that begins or ends, of which the operator should know. */
export interface Warning {
  /** Word by which receivers choose what they get. */
  event: string;
  /** Tells the conditions of one subject apart. */
  condition: string;
  /** What it is about: a name. */
  subject: string;
  isOver: boolean;
  /** One sentence for people, without a capital and a full stop. */
  message: string;
  /** For programs. */
  facts: Readonly<Record<string, string | number | null>>;
}
