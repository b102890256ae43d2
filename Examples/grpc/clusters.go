// SPDX-License-Identifier: MIT

// Prints the clusters of a source, over gRPC.
//
//	protoc -I proto --go_out=. --go-grpc_out=. proto/clusterd/v1/clusterd.proto
//	go run clusters.go localhost:8080 cities
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"

	clusterdv1 "clusterd/v1"
)

func main() {
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	zoom := 2.0
	answer, err := clusterdv1.NewClusterServiceClient(connection).GetClusters(ctx, &clusterdv1.GetClustersRequest{
		Source: os.Args[2],
		Bbox:   &clusterdv1.BoundingBox{West: -180, South: -85, East: 180, North: 85},
		Zoom:   &zoom,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, feature := range answer.Features {
		points := uint64(1)
		if cluster := feature.GetCluster(); cluster != nil {
			points = cluster.PointCount
		}
		fmt.Printf("%6d points around %.2f, %.2f\n", points, feature.Longitude, feature.Latitude)
	}
}
