;; Counts the tokens of a text at most, by the tables of most-tokens.ts, which writes them into the memory. In this module a
;; character takes a third of the time that it takes in JavaScript.
;;
;; Memory, in bytes: 0 classes, 128 letters, 256 the four sums, 1024 steps of 16 bytes (words, digits, signs, joins),
;; 8192 joints, 65536 weights of all UTF-16 code units, 131072 the text.
(module
  (memory (export "memory") 4)

  ;; state: what is known of the characters before; its parts are packed, see `BEGINNING` in most-tokens.ts. at, end: range of
  ;; the text, which is UTF-16. Stores the sums in 64ths of a token, and returns the state behind the text.
  (func (export "count") (param $state i32) (param $at i32) (param $end i32) (result i32)
    (local $kind i32) (local $repeats i32) (local $before i32) (local $length i32) (local $last i32) (local $letter i32)
    (local $words i32) (local $digits i32) (local $signs i32) (local $scripts i32)
    (local $code i32) (local $now i32) (local $equal i32) (local $step i32) (local $joins i32) (local $joint i32)
    (local.set $kind (i32.and (local.get $state) (i32.const 7)))
    (local.set $repeats (i32.and (i32.shr_u (local.get $state) (i32.const 3)) (i32.const 1)))
    (local.set $before (i32.and (i32.shr_u (local.get $state) (i32.const 4)) (i32.const 31)))
    (local.set $length (i32.and (i32.shr_u (local.get $state) (i32.const 9)) (i32.const 15)))
    (local.set $last (i32.shr_u (local.get $state) (i32.const 13)))
    (if (local.get $kind)
      (then (local.set $letter (i32.load8_u offset=128 (local.get $last)))))
    (block $done
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (loop $next
        (local.set $code (i32.load16_u (local.get $at)))
        (if (i32.ge_u (local.get $code) (i32.const 128))
          (then
            (local.set $now (i32.load8_u offset=65536 (local.get $code)))
            (local.set $scripts (i32.add (local.get $scripts) (local.get $now)))
            ;; A single space belongs to the character behind it, if that has tokens of its own.
            (if
              (i32.and
                (i32.and (i32.eq (local.get $kind) (i32.const 4)) (i32.eqz (local.get $repeats)))
                (i32.lt_u (local.get $now) (i32.const 128)))
              (then (local.set $signs (i32.sub (local.get $signs) (i32.const 64)))))
            (local.set $kind (i32.const 0))
            (local.set $repeats (i32.const 0))
            (local.set $letter (i32.const 0)))
          (else
            (local.set $now (i32.load8_u (local.get $code)))
            (local.set $equal (i32.eq (local.get $code) (local.get $last)))
            (local.set $step
              (i32.or
                (i32.or (i32.shl (local.get $kind) (i32.const 9)) (i32.shl (local.get $now) (i32.const 6)))
                (i32.or (i32.shl (local.get $repeats) (i32.const 5)) (i32.shl (local.get $equal) (i32.const 4)))))
            (local.set $joins (i32.load offset=1036 (local.get $step)))
            (local.set $joint
              (i32.mul
                (i32.add (i32.mul (local.get $before) (i32.const 26)) (local.get $letter))
                (i32.const 26)))
            (local.set $before (i32.and (i32.add (local.get $letter) (i32.const 1)) (local.get $joins)))
            (local.set $letter (i32.load8_u offset=128 (local.get $code)))
            (local.set $joint
              (i32.and
                (i32.load8_u offset=8192 (i32.add (local.get $joint) (local.get $letter)))
                (local.get $joins)))
            (local.set $words
              (i32.add (local.get $words) (i32.add (i32.load offset=1024 (local.get $step)) (local.get $joint))))
            (local.set $digits (i32.add (local.get $digits) (i32.load offset=1028 (local.get $step))))
            (local.set $signs (i32.add (local.get $signs) (i32.load offset=1032 (local.get $step))))
            (local.set $length (i32.add (i32.and (local.get $length) (local.get $joins)) (i32.const 1)))
            ;; Each further letter of a long word costs at least 20.
            (if (i32.gt_u (local.get $length) (i32.const 12))
              (then
                (local.set $length (i32.const 13))
                (if (i32.lt_u (local.get $joint) (i32.const 20))
                  (then
                    (local.set $words
                      (i32.add (local.get $words) (i32.sub (i32.const 20) (local.get $joint))))))))
            (local.set $kind (local.get $now))
            (local.set $repeats (local.get $equal))))
        (local.set $last (local.get $code))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (br_if $next (i32.lt_u (local.get $at) (local.get $end)))))
    (i32.store offset=256 (i32.const 0) (local.get $words))
    (i32.store offset=260 (i32.const 0) (local.get $digits))
    (i32.store offset=264 (i32.const 0) (local.get $signs))
    (i32.store offset=268 (i32.const 0) (local.get $scripts))
    (i32.or
      (i32.or
        (i32.or (local.get $kind) (i32.shl (local.get $repeats) (i32.const 3)))
        (i32.or (i32.shl (local.get $before) (i32.const 4)) (i32.shl (local.get $length) (i32.const 9))))
      (i32.shl (local.get $last) (i32.const 13)))))
