;; Copies JSON text without the parts that no rule reads: long strings, and repeated elements of a list.
;;
;; Outside strings, bytes are copied unchanged: the parser of the copy checks the syntax. Inside strings the module itself
;; checks the rules of RFC 8259, section 7, 32 bytes at a time, because the parser does not see what is left out: no control
;; characters, no invalid escapes, no unterminated string.
(module
  ;; The text must be followed by zero bytes: a zero ends every search.
  (memory (export "memory") 4)

  ;; Classes of bytes: 2 hexadecimal digit, 4 opens a level, 8 closes a level, 16 separates members or their parts.
  (data (i32.const 44) "\10")                    ;; ,
  (data (i32.const 58) "\10")                    ;; :
  (data (i32.const 91) "\04")                    ;; [
  (data (i32.const 93) "\08")                    ;; ]
  (data (i32.const 123) "\04")                   ;; {
  (data (i32.const 125) "\08")                   ;; }
  (data (i32.const 48) "\02\02\02\02\02\02\02\02\02\02") ;; 0 to 9
  (data (i32.const 65) "\02\02\02\02\02\02")     ;; A to F
  (data (i32.const 97) "\02\02\02\02\02\02")     ;; a to f

  ;; The last eight elements that were kept of the current list, from offset 264 on: start in the copy, and length.
  (global $kept (mut i32) (i32.const 0))

  ;; Whether the newest bytes of the copy are equal to an element that was kept of the same list.
  (func $is-known (param $begin i32) (param $length i32) (result i32)
    (local $slot i32) (local $seen i32) (local $at i32)
    (local.set $slot (i32.const 264))
    (block $unknown
      (loop $next
        (br_if $unknown
          (i32.ge_u (local.get $slot)
            (i32.add (i32.const 264)
              (i32.shl
                (select (global.get $kept) (i32.const 8) (i32.lt_u (global.get $kept) (i32.const 8)))
                (i32.const 3)))))
        (local.set $seen (i32.load (local.get $slot)))
        (if (i32.eq (i32.load offset=4 (local.get $slot)) (local.get $length))
          (then
            (local.set $at (i32.const 0))
            (block $differs
              ;; Compares blocks of sixteen bytes; the last block ends with the element and may overlap the one before.
              (loop $block
                (br_if $differs
                  (i32.eqz
                    (i8x16.all_true
                      (i8x16.eq
                        (v128.load (i32.add (local.get $seen) (local.get $at)))
                        (v128.load (i32.add (local.get $begin) (local.get $at)))))))
                (if (i32.eq (local.get $at) (i32.sub (local.get $length) (i32.const 16)))
                  (then (return (i32.const 1))))
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (if (i32.gt_u (local.get $at) (i32.sub (local.get $length) (i32.const 16)))
                  (then (local.set $at (i32.sub (local.get $length) (i32.const 16)))))
                (br $block)))))
        (local.set $slot (i32.add (local.get $slot) (i32.const 8)))
        (br $next)))
    (local.set $slot
      (i32.add (i32.const 264)
        (i32.shl (i32.and (global.get $kept) (i32.const 7)) (i32.const 3))))
    (i32.store (local.get $slot) (local.get $begin))
    (i32.store offset=4 (local.get $slot) (local.get $length))
    (global.set $kept (i32.add (global.get $kept) (i32.const 1)))
    (i32.const 0))

  ;; text, end: range of the text. copy: offset of the copy; it needs the length of the text and 32 more bytes.
  ;; mark: offset of the marks: for each colon, comma and closing bracket of the outermost level, its positions in the copy
  ;; and in the text; at most 4096 pairs, whose number is stored at 256. Behind their room, which is 32768 bytes, are the positions
  ;; in the text of each comma and closing bracket of a list that is a member of the outermost level; the first 4096, and the number
  ;; of all is stored at 260. At 328 is whether a string has a \u escape. deepest: maximum nesting depth.
  ;; Returns the length of the copy, or -1 for an invalid string, and when there are too many levels or marks.
  (func (export "outline")
    (param $text i32) (param $end i32) (param $copy i32) (param $mark i32) (param $deepest i32)
    (result i32)
    (local $at i32) (local $out i32) (local $byte i32) (local $class i32) (local $depth i32) (local $level i32)
    (local $marks i32)
    ;; Where the next mark of a list is written, and how many there are.
    (local $part i32) (local $parts i32)
    ;; Start of the current element, if its list is a member of the outermost level; 0 elsewhere.
    (local $element i32)
    (local $start i32) (local $length i32)
    ;; Number of bytes in a string that only result from spelling letters as \u escapes.
    (local $spelled i32)
    ;; Whether any string has such letters.
    (local $letters i32)
    (local $low v128) (local $high v128)
    ;; Splatted bytes. Bytes from the space on have at least one of three bits; from the underscore on almost all are letters.
    (local $quotes v128) (local $backslashes v128) (local $from-space v128) (local $below-letters v128)
    (local $zeroes v128)
    ;; Bit masks with one bit per byte of the block: backslashes; quotes and control characters; characters after an effective
    ;; backslash; effective backslashes and the characters after them; all bytes before the end of the string.
    (local $slashes i32) (local $stops i32) (local $escaped i32) (local $pairs i32) (local $inside i32)
    ;; The first byte of the block is escaped by the last byte of the previous block.
    (local $carried i32)
    (local $bad i32)
    (local.set $quotes (i8x16.splat (i32.const 34)))
    (local.set $backslashes (i8x16.splat (i32.const 92)))
    (local.set $from-space (i8x16.splat (i32.const 0xe0)))
    (local.set $below-letters (i8x16.splat (i32.const 94)))
    (local.set $at (local.get $text))
    (local.set $out (local.get $copy))
    (local.set $part (i32.add (local.get $mark) (i32.const 32768)))
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
                (br_if $outside (i32.ne (local.get $depth) (i32.const 2)))
                (local.set $element
                  (select (local.get $out) (i32.const 0) (i32.eq (local.get $byte) (i32.const 91))))
                (global.set $kept (i32.const 0))
                (br $outside)))
            ;; A closing bracket or a separator; only those of the two outermost levels matter.
            (local.set $level (local.get $depth))
            (if (i32.and (local.get $class) (i32.const 8))
              (then (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))))
            (br_if $outside (i32.gt_s (local.get $level) (i32.const 2)))
            (if (i32.eq (local.get $level) (i32.const 1))
              (then
                (if (i32.ge_u (local.get $marks) (i32.const 4096)) (then (return (i32.const -1))))
                (i32.store (local.get $mark)
                  (i32.sub (i32.sub (local.get $out) (local.get $copy)) (i32.const 1)))
                (i32.store offset=4 (local.get $mark)
                  (i32.sub (i32.sub (local.get $at) (local.get $text)) (i32.const 1)))
                (local.set $mark (i32.add (local.get $mark) (i32.const 8)))
                (local.set $marks (i32.add (local.get $marks) (i32.const 1)))
                (br $outside)))
            (br_if $outside (i32.eqz (local.get $element)))
            (if (i32.eq (local.get $byte) (i32.const 58)) (then (return (i32.const -1))))
            (if (i32.lt_u (local.get $parts) (i32.const 4096))
              (then
                (i32.store (local.get $part) (i32.sub (i32.sub (local.get $at) (local.get $text)) (i32.const 1)))
                (local.set $part (i32.add (local.get $part) (i32.const 4)))))
            (local.set $parts (i32.add (local.get $parts) (i32.const 1)))
            ;; After an element of a list. An object equal to a kept one is removed with the comma before it: the parser and the
            ;; rules would judge both alike.
            (local.set $length
              (i32.sub (i32.sub (local.get $out) (i32.const 1)) (local.get $element)))
            (if (i32.ge_s (local.get $length) (i32.const 16))
              (then
                (if (i32.eq (i32.load8_u (i32.sub (local.get $out) (i32.const 2))) (i32.const 125))
                  (then
                    (if (call $is-known (local.get $element) (local.get $length))
                      (then
                        (local.set $out (local.get $element))
                        (i32.store8 (i32.sub (local.get $out) (i32.const 1)) (local.get $byte))))))))
            (local.set $element
              (select (local.get $out) (i32.const 0) (i32.eq (local.get $level) (local.get $depth))))
            (br $outside)))

        ;; After an opening quote: find the closing one.
        (local.set $start (local.get $at))
        (local.set $spelled (i32.const 0))
        (local.set $carried (i32.const 0))
        (block $closed
          (loop $inside
            (local.set $low (v128.load (local.get $at)))
            (local.set $high (v128.load offset=16 (local.get $at)))
            (local.set $slashes
              (i32.or
                (i8x16.bitmask (i8x16.eq (local.get $low) (local.get $backslashes)))
                (i32.shl
                  (i8x16.bitmask (i8x16.eq (local.get $high) (local.get $backslashes)))
                  (i32.const 16))))
            (local.set $stops
              (i32.or
                (i8x16.bitmask
                  (v128.or
                    (i8x16.eq (local.get $low) (local.get $quotes))
                    (i8x16.eq (v128.and (local.get $low) (local.get $from-space)) (local.get $zeroes))))
                (i32.shl
                  (i8x16.bitmask
                    (v128.or
                      (i8x16.eq (local.get $high) (local.get $quotes))
                      (i8x16.eq (v128.and (local.get $high) (local.get $from-space)) (local.get $zeroes))))
                  (i32.const 16))))
            (if (i32.eqz (i32.or (local.get $slashes) (local.get $carried)))
              (then
                (if (i32.eqz (local.get $stops))
                  (then
                    (local.set $at (i32.add (local.get $at) (i32.const 32)))
                    (br $inside)))
                (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $stops))))
                (br $closed)))

            ;; In a run of backslashes every second one is escaped, and so is the character after a run of odd length:
            ;; subtracting the start of the run from the odd positions inverts them after the run.
            (local.set $escaped (i32.and (local.get $slashes) (i32.xor (local.get $carried) (i32.const -1))))
            (local.set $pairs
              (i32.xor
                (i32.sub
                  (i32.or (i32.shl (local.get $escaped) (i32.const 1)) (i32.const 0xaaaaaaaa))
                  (local.get $escaped))
                (i32.const 0xaaaaaaaa)))
            (local.set $escaped
              (i32.xor (local.get $pairs) (i32.or (local.get $slashes) (local.get $carried))))
            (local.set $stops (i32.and (local.get $stops) (i32.xor (local.get $escaped) (i32.const -1))))
            (local.set $inside
              (i32.sub
                (i32.and (local.get $stops) (i32.sub (i32.const 0) (local.get $stops)))
                (i32.const 1)))
            (local.set $bad
              (i32.and
                (i32.and (local.get $escaped) (local.get $inside))
                (i32.or
                  (call $no-escape (local.get $low))
                  (i32.shl (call $no-escape (local.get $high)) (i32.const 16)))))
            (if (i32.eqz (local.get $bad))
              (then
                (if (local.get $stops)
                  (then
                    (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $stops))))
                    (br $closed)))
                (local.set $carried
                  (i32.shr_u (i32.and (local.get $pairs) (local.get $slashes)) (i32.const 31)))
                (local.set $at (i32.add (local.get $at) (i32.const 32)))
                (br $inside)))

            ;; Not one of these: only u and four hexadecimal digits are valid here.
            (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $bad))))
            (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 117)) (then (return (i32.const -1))))
            (if (i32.eqz
                  (i32.and
                    (i32.and
                      (i32.and
                        (i32.load8_u (i32.load8_u offset=1 (local.get $at)))
                        (i32.load8_u (i32.load8_u offset=2 (local.get $at))))
                      (i32.and
                        (i32.load8_u (i32.load8_u offset=3 (local.get $at)))
                        (i32.load8_u (i32.load8_u offset=4 (local.get $at)))))
                    (i32.const 2)))
              (then (return (i32.const -1))))
            (local.set $spelled (i32.add (local.get $spelled) (i32.const 5)))
            (local.set $letters (i32.const 1))
            (local.set $carried (i32.const 0))
            (local.set $at (i32.add (local.get $at) (i32.const 5)))
            (br $inside)))

        (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 34)) (then (return (i32.const -1))))
        (local.set $length (i32.sub (local.get $at) (local.get $start)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        ;; Keeps every string that may be a word that a rule compares with: short, and either all small letters, or on the
        ;; outermost level, or a name. A letter spelled as a \u escape counts as one byte, so that escapes do not hide a word.
        (block $left-out
          (br_if $left-out (i32.gt_u (i32.sub (local.get $length) (local.get $spelled)) (i32.const 32)))
          (block $kept
            (br_if $kept (i32.or (local.get $spelled) (i32.lt_s (local.get $depth) (i32.const 2))))
            ;; This is a value, not a name.
            (local.set $byte (i32.load8_u (local.get $at)))
            (br_if $kept (i32.eq (local.get $byte) (i32.const 58)))
            (br_if $kept (i32.eqz (i32.and (i32.load8_u (local.get $byte)) (i32.const 24))))
            (br_if $left-out
              (i32.gt_u (local.get $length)
                (i32.ctz
                  (i32.xor
                    (i32.or
                      (i8x16.bitmask
                        (i8x16.gt_s (v128.load (local.get $start)) (local.get $below-letters)))
                      (i32.shl
                        (i8x16.bitmask
                          (i8x16.gt_s (v128.load offset=16 (local.get $start)) (local.get $below-letters)))
                        (i32.const 16)))
                    (i32.const -1))))))
          ;; Copies two blocks, whatever the length.
          (if (i32.le_u (local.get $length) (i32.const 32))
            (then
              (v128.store (local.get $out) (v128.load (local.get $start)))
              (v128.store offset=16 (local.get $out) (v128.load offset=16 (local.get $start))))
            (else
              (memory.copy (local.get $out) (local.get $start) (local.get $length))))
          (local.set $out (i32.add (local.get $out) (local.get $length)))
          (i32.store8 (local.get $out) (i32.const 34))
          (local.set $out (i32.add (local.get $out) (i32.const 1)))
          (br $outside))
        ;; Every other string becomes a tilde.
        (i32.store16 (local.get $out) (i32.const 0x227e))
        (local.set $out (i32.add (local.get $out) (i32.const 2)))
        (br $outside)))
    (i32.store (i32.const 256) (local.get $marks))
    (i32.store (i32.const 260) (local.get $parts))
    (i32.store (i32.const 328) (local.get $letters))
    (i32.sub (local.get $out) (local.get $copy)))

  ;; One bit for each byte that cannot follow a backslash in an escape: tables for both halves of a valid byte share a bit.
  (func $no-escape (param $block v128) (result i32)
    (i8x16.bitmask
      (i8x16.eq
        (v128.and
          (i8x16.swizzle
            (v128.const i8x16 0 0 13 0 8 0 4 0 0 0 0 0 2 0 4 1)
            (v128.and (local.get $block) (i8x16.splat (i32.const 15))))
          (i8x16.swizzle
            (v128.const i8x16 0 0 1 0 0 2 4 8 0 0 0 0 0 0 0 0)
            (i8x16.shr_u (local.get $block) (i32.const 4))))
        (v128.const i64x2 0 0)))))
