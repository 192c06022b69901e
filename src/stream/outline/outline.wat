;; Copies JSON text and shortens its long strings on the way, sixteen bytes at a time.
;;
;; Outside of strings bytes are copied as they are: whether they make sense, the parser of the copy says. Inside strings the
;; rules of RFC 8259 7 hold here, because the parser will not see what is left out: no control characters, no escapes that
;; do not exist, no string without an end.
(module
  ;; Zeroed bytes must follow the text: a zero is what stops every search.
  (memory (export "memory") 4)

  ;; What a byte is. Behind a backslash: 1 an escape of one letter, 2 a hexadecimal digit, 3 both.
  ;; Outside of strings: 4 opens a level, 8 closes one, 16 stands between members and their parts.
  (data (i32.const 34) "\01")                    ;; "
  (data (i32.const 44) "\10")                    ;; ,
  (data (i32.const 47) "\01")                    ;; /
  (data (i32.const 58) "\10")                    ;; :
  (data (i32.const 91) "\04")                    ;; [
  (data (i32.const 93) "\08")                    ;; ]
  (data (i32.const 123) "\04")                   ;; {
  (data (i32.const 125) "\08")                   ;; }
  (data (i32.const 48) "\02\02\02\02\02\02\02\02\02\02") ;; 0 to 9
  (data (i32.const 65) "\02\02\02\02\02\02")     ;; A to F
  (data (i32.const 92) "\01")                    ;; backslash
  (data (i32.const 97) "\02\03\02\02\02\03")     ;; a to f; b and f are escapes too
  (data (i32.const 110) "\01")                   ;; n
  (data (i32.const 114) "\01")                   ;; r
  (data (i32.const 116) "\01")                   ;; t

  ;; Entries of the two tables that this run wrote; at the end they are left at 256 and 260.
  (global $entries (mut i32) (i32.const 0))
  (global $marks (mut i32) (i32.const 0))

  ;; text, end: where the text stands. copy: where the copy goes, with room for as many bytes and 32 more.
  ;; table: where two numbers go for each shortened string: a position in the copy, and how many bytes the text is ahead of
  ;; it from there on. mark: where the positions in the copy go of what separates the outermost members, and of the end of
  ;; the outermost level; at most 4096. deepest: levels allowed inside each other.
  ;; Gives the length of the copy, or -1 when a string is not as it must be, or of levels or separators are too many.
  (func (export "outline")
    (param $text i32) (param $end i32) (param $copy i32) (param $table i32) (param $mark i32) (param $deepest i32)
    (result i32)
    (local $at i32) (local $out i32) (local $class i32) (local $depth i32) (local $level i32) (local $start i32) (local $length i32) (local $byte i32) (local $stops i32)
    ;; Bytes of a string that are there only because of its escapes.
    (local $spelled i32)
    (local $block v128)
    (local.set $at (local.get $text))
    (local.set $out (local.get $copy))
    (global.set $entries (i32.const 0))
    (global.set $marks (i32.const 0))
    (block $done
      (loop $outside
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (i32.store8 (local.get $out) (local.get $byte))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $out (i32.add (local.get $out) (i32.const 1)))
        (if (i32.ne (local.get $byte) (i32.const 34))
          (then
            (local.set $class (i32.and (i32.load8_u (local.get $byte)) (i32.const 28)))
            (br_if $outside (i32.eqz (local.get $class)))
            (if (i32.and (local.get $class) (i32.const 4))
              (then
                (local.set $depth (i32.add (local.get $depth) (i32.const 1)))
                (if (i32.gt_s (local.get $depth) (local.get $deepest)) (then (return (i32.const -1))))
                (br $outside)))
            ;; A level that closes, or a separator: of interest on the outermost level only.
            (local.set $level (local.get $depth))
            (if (i32.and (local.get $class) (i32.const 8))
              (then (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))))
            (br_if $outside (i32.ne (local.get $level) (i32.const 1)))
            (if (i32.ge_u (global.get $marks) (i32.const 4096)) (then (return (i32.const -1))))
            (i32.store (local.get $mark)
              (i32.sub (i32.sub (local.get $out) (local.get $copy)) (i32.const 1)))
            (local.set $mark (i32.add (local.get $mark) (i32.const 4)))
            (global.set $marks (i32.add (global.get $marks) (i32.const 1)))
            (br $outside)))

        ;; Behind an opening quote: on to the closing one, over runs of bytes that mean themselves.
        (local.set $start (local.get $at))
        (local.set $spelled (i32.const 0))
        (block $closed
          (loop $inside
            (local.set $block (v128.load (local.get $at)))
            (local.set $stops
              (i8x16.bitmask
                (v128.or
                  (v128.or
                    (i8x16.eq (local.get $block) (i8x16.splat (i32.const 34)))
                    (i8x16.eq (local.get $block) (i8x16.splat (i32.const 92))))
                  (i8x16.lt_u (local.get $block) (i8x16.splat (i32.const 32))))))
            (if (i32.eqz (local.get $stops))
              (then
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (br $inside)))
            (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $stops))))
            (local.set $byte (i32.load8_u (local.get $at)))
            (br_if $closed (i32.eq (local.get $byte) (i32.const 34)))
            (if (i32.ne (local.get $byte) (i32.const 92)) (then (return (i32.const -1))))

            (local.set $byte (i32.load8_u offset=1 (local.get $at)))
            (if (i32.ne (local.get $byte) (i32.const 117))
              (then
                (if (i32.eqz (i32.and (i32.load8_u (local.get $byte)) (i32.const 1)))
                  (then (return (i32.const -1))))
                (local.set $spelled (i32.add (local.get $spelled) (i32.const 1)))
                (local.set $at (i32.add (local.get $at) (i32.const 2)))
                (br $inside)))
            ;; \u and four hexadecimal digits
            (if (i32.eqz
                  (i32.and
                    (i32.and
                      (i32.and
                        (i32.load8_u (i32.load8_u offset=2 (local.get $at)))
                        (i32.load8_u (i32.load8_u offset=3 (local.get $at))))
                      (i32.and
                        (i32.load8_u (i32.load8_u offset=4 (local.get $at)))
                        (i32.load8_u (i32.load8_u offset=5 (local.get $at)))))
                    (i32.const 2)))
              (then (return (i32.const -1))))
            (local.set $spelled (i32.add (local.get $spelled) (i32.const 5)))
            (local.set $at (i32.add (local.get $at) (i32.const 6)))
            (br $inside)))

        ;; At the closing quote. Up to 32 bytes are copied, two blocks whatever the length; of more only a tilde is left. An
        ;; escape counts as one byte: a word must not grow out of sight by being spelled in escapes.
        (local.set $length (i32.sub (local.get $at) (local.get $start)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (if (i32.le_u (i32.sub (local.get $length) (local.get $spelled)) (i32.const 32))
          (then
            (if (i32.le_u (local.get $length) (i32.const 32))
              (then
                (v128.store (local.get $out) (v128.load (local.get $start)))
                (v128.store offset=16 (local.get $out) (v128.load offset=16 (local.get $start))))
              (else
                (memory.copy (local.get $out) (local.get $start) (local.get $length))))
            (local.set $out (i32.add (local.get $out) (local.get $length)))
            (i32.store8 (local.get $out) (i32.const 34))
            (local.set $out (i32.add (local.get $out) (i32.const 1))))
          (else
            (i32.store16 (local.get $out) (i32.const 0x227e))
            (local.set $out (i32.add (local.get $out) (i32.const 2)))
            (i32.store (local.get $table) (i32.sub (local.get $out) (local.get $copy)))
            (i32.store offset=4 (local.get $table)
              (i32.sub
                (i32.sub (local.get $at) (local.get $text))
                (i32.sub (local.get $out) (local.get $copy))))
            (local.set $table (i32.add (local.get $table) (i32.const 8)))
            (global.set $entries (i32.add (global.get $entries) (i32.const 1)))))
        (br $outside)))
    (i32.store (i32.const 256) (global.get $entries))
    (i32.store (i32.const 260) (global.get $marks))
    (i32.sub (local.get $out) (local.get $copy))))
