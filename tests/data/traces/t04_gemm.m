Network n {
Layer A {
Type: GEMM
Dimensions { M: 10, N: 7, K: 9 }
Dataflow {
SpatialMap(2,2) M;
TemporalMap(3,3) N;
TemporalMap(4,4) K;
Cluster(2,P);
TemporalMap(1,1) M;
SpatialMap(1,1) K;
TemporalMap(2,2) N;
}
}
}
