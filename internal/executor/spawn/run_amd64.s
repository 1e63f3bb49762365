//go:build linux

#include "textflag.h"

#define SYS_exit 60

// func run(number, a, b, c uintptr, calls *call) (pid int)
//
// The child must not write to the stack, which it shares with its parent: it uses registers only, and never returns.
TEXT ·run(SB),NOSPLIT,$0-48
	MOVQ	number+0(FP), AX
	MOVQ	a+8(FP), DI
	MOVQ	b+16(FP), SI
	MOVQ	c+24(FP), DX
	MOVQ	calls+32(FP), R12 // the kernel preserves it
	SYSCALL
	TESTQ	AX, AX
	JEQ	child
	MOVQ	AX, pid+40(FP)
	RET
child:
	MOVQ	0(R12), AX
	MOVQ	8(R12), DI
	MOVQ	16(R12), SI
	MOVQ	24(R12), DX
	MOVQ	32(R12), R10
	MOVQ	40(R12), R8
	SYSCALL
	CMPQ	AX, $0xfffffffffffff001
	JCC	failed // unsigned: an error
	MOVQ	48(R12), CX
	TESTQ	CX, CX
	JEQ	next
	CMPQ	AX, CX
	JNE	failed
next:
	ADDQ	$64, R12
	JMP	child
failed:
	MOVQ	AX, 56(R12)
	MOVQ	$127, DI
	MOVQ	$SYS_exit, AX
	SYSCALL
	INT	$3 // not reached
