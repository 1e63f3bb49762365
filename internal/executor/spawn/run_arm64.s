//go:build linux

#include "textflag.h"

#define SYS_exit 93

// func run(number, a, b, c uintptr, calls *call) (pid int)
//
// The child must not write to the stack, which it shares with its parent: it uses registers only, and never returns.
TEXT ·run(SB),NOSPLIT,$0-48
	MOVD	number+0(FP), R8
	MOVD	a+8(FP), R0
	MOVD	b+16(FP), R1
	MOVD	c+24(FP), R2
	MOVD	calls+32(FP), R9 // the kernel preserves it
	SVC
	CBZ	R0, child
	MOVD	R0, pid+40(FP)
	RET
child:
	MOVD	0(R9), R8
	MOVD	8(R9), R0
	MOVD	16(R9), R1
	MOVD	24(R9), R2
	MOVD	32(R9), R3
	MOVD	40(R9), R4
	SVC
	CMN	$4095, R0
	BCS	failed // an error
	MOVD	48(R9), R10
	CBZ	R10, next
	CMP	R10, R0
	BNE	failed
next:
	ADD	$64, R9
	B	child
failed:
	MOVD	R0, 56(R9)
	MOVD	$127, R0
	MOVD	$SYS_exit, R8
	SVC
	BRK	$1 // not reached
