Network n {
Layer A {
Type: CONV
Dimensions { K: 8, C: 6, Y: 10, X: 9, R: 3, S: 3 }
Dataflow {
TemporalMap(3,3) K;
SpatialMap(2,2) C;
TemporalMap(3,1) Y;
TemporalMap(5,3) X;
TemporalMap(3,3) R;
TemporalMap(3,3) S;
Cluster(3,P);
SpatialMap(1,1) K;
}
}
}
