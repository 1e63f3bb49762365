package harness

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Listening returns the addresses of the sockets on which a process listens: of TCP with IP and port, of unix sockets
// their name, that of abstract ones with a leading @. To read the descriptors of another process takes its user or
// root.
func Listening(pid int) ([]string, error) {
	proc := fmt.Sprintf("/proc/%d/", pid)
	descriptors, err := os.ReadDir(proc + "fd")
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, d := range descriptors {
		target, err := os.Readlink(filepath.Join(proc, "fd", d.Name()))
		if inode, found := strings.CutPrefix(target, "socket:["); err == nil && found {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	var found []string
	for table, address := range map[string]func(fields []string) (address, inode string){
		"net/tcp": tcpListener, "net/tcp6": tcpListener, "net/unix": unixListener,
	} {
		file, err := os.Open(proc + table)
		if os.IsNotExist(err) { // a kernel without IPv6
			continue
		}
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			if a, inode := address(strings.Fields(lines.Text())); own[inode] {
				found = append(found, a)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// tcpListener reads a line of net/tcp, see proc(5): number, local address, remote address, state; the tenth field is
// the inode.
func tcpListener(f []string) (address, inode string) {
	const listens = "0A"
	if len(f) < 10 || f[3] != listens {
		return "", ""
	}
	ip, port, _ := strings.Cut(f[1], ":")
	bytes, _ := hex.DecodeString(ip)
	for i := 0; i+4 <= len(bytes); i += 4 { // words in the order of a little-endian machine
		bytes[i], bytes[i+1], bytes[i+2], bytes[i+3] = bytes[i+3], bytes[i+2], bytes[i+1], bytes[i]
	}
	n, _ := strconv.ParseUint(port, 16, 16)
	return net.JoinHostPort(net.IP(bytes).String(), strconv.FormatUint(n, 10)), f[9]
}

// unixListener reads a line of net/unix: address, references, protocol, flags, type, state, inode, name.
func unixListener(f []string) (address, inode string) {
	const accepts = "00010000" // __SO_ACCEPTCON
	if len(f) < 7 || f[3] != accepts {
		return "", ""
	}
	return strings.Join(f[7:], " "), f[6]
}
