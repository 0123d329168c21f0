Network n {
Layer A {
Type: CONV
Stride { Y: 2, X: 2 }
Dimensions { K: 8, C: 6, Y: 10, X: 9, R: 3, S: 3 }
Dataflow {
TemporalMap(3,3) K;
TemporalMap(4,4) C;
SpatialMap(1,1) Y';
TemporalMap(4,4) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
Cluster(4,P);
SpatialMap(1,1) K;
TemporalMap(2,2) C;
TemporalMap(1,1) Y';
TemporalMap(2,2) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
}
}
}
