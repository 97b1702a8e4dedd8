package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// hash makes what is arbitrary out of who asks (splitmix64), so that every run has the same cluster.
func hash(of uint64) uint64 {
	x := of + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Numbers of different things must not meet in a hash.
const (
	nodeIDs     = uint64(1) << 40
	workloadIDs = uint64(2) << 40
	podIDs      = uint64(3) << 40
)

func uid(of uint64) types.UID {
	a, b := hash(of), hash(^of)
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff,
		0x8000|b>>48&0x3fff, b&0xffffffffffff))
}
