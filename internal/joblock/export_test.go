package joblock

import (
	"context"

	"google.golang.org/protobuf/proto"

	"carillon/internal/common"
)

// ClaimSize returns the size of the transaction of a claim, in bytes.
func ClaimSize(claim *common.Claim) int {
	a := &attempt{claim: claim, result: &common.ClaimResult{}}
	nested, _ := (&Claimer{outbox: "w"}).request(context.Background(), a, 5)
	return proto.Size(nested.op)
}

// FinishSize returns the size of the transaction of a finish, in bytes.
func FinishSize(o *common.Outcome) int {
	nested, _ := (&Finisher{worker: "w"}).op(o)
	return proto.Size(nested.op)
}
