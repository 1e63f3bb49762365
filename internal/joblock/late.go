package joblock

import (
	"context"
	"encoding/json"

	"carillon/internal/common"
	"carillon/internal/etcdkit/request"
)

// note writes the late ends of runs that others had resolved. It needs no compare: a record that is not the claimed one
// never becomes it again. A finish that is repeated after a lost answer writes one as well, which does no harm: it is
// shown only beside the outcome lost. A run that its own worker resolved as lost has none.
func (f *Finisher) note(ctx context.Context, late []common.LateEnd) {
	var nested []nestedTxn
	for i := range late {
		if late[i].Status == common.StatusLost {
			continue
		}
		data, err := json.Marshal(&late[i])
		if err != nil {
			f.trouble(err)
			continue
		}
		key := common.LateKey(f.worker, late[i].Run)
		nested = append(nested, nestedTxn{op: request.Txn([]request.Compare{request.Absent(key)},
			[]request.Op{request.Put(key, data)}, nil), size: len(data)})
	}
	for _, a := range f.commit(ctx, nested, unguarded) {
		if a.err != nil {
			f.trouble(a.err)
		}
	}
}
